/* romp.h - steering the measurement by hand.
 *
 * No program needs this. The four calls do nothing where the program is not
 * linked with Romp's library, or ROMP_NO_API is defined; so they can stay in
 * the source. Each may be called from any thread at any time.
 */
#ifndef ROMP_H
#define ROMP_H

#if defined(__GNUC__) && !defined(ROMP_NO_API)

#ifdef __cplusplus
extern "C" {
#endif

/* Start or stop the measurement of the whole process, also within regions. While it is
 * stopped, nothing is counted, and no time passes. Regions that are open at a stop or a
 * start keep their place. */
extern void romp_start(void) __attribute__((__weak__));
extern void romp_stop(void) __attribute__((__weak__));

/* Writes the profile as it is now. It replaces the files that this run wrote before. */
extern void romp_dump(void) __attribute__((__weak__));

/* Stores a key with its value in the profile, such as the size of the problem. */
extern void romp_annotate(const char *key, const char *value) __attribute__((__weak__));

#ifdef __cplusplus
}
#endif

/* A weak symbol that nobody defines has no address. */
#define romp_start() (romp_start ? romp_start() : (void)0)
#define romp_stop() (romp_stop ? romp_stop() : (void)0)
#define romp_dump() (romp_dump ? romp_dump() : (void)0)
#define romp_annotate(key, value) (romp_annotate ? romp_annotate(key, value) : (void)0)

#else

#define romp_start() ((void)0)
#define romp_stop() ((void)0)
#define romp_dump() ((void)0)
#define romp_annotate(key, value) ((void)(key), (void)(value))

#endif

#endif
