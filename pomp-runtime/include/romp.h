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

/* Measurement of the whole process goes on, or stops for a time, also within regions.
 * What is executed meanwhile is not counted and takes no time; what is open when it
 * stops or goes on keeps its place. */
extern void romp_start(void) __attribute__((__weak__));
extern void romp_stop(void) __attribute__((__weak__));

/* Writes the profile as it is now, over what this run wrote before. */
extern void romp_dump(void) __attribute__((__weak__));

/* Keeps something in the profile, such as the size of the problem. */
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
