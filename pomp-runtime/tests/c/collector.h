/* A collector: what a tool sends to __omp_collector_api, with the numbers of the
 * interface written out. */
#include <stdint.h>

enum { START, REGISTER, UNREGISTER, STATE, CURRENT_PRID, PARENT_PRID, STOP, PAUSE, RESUME };
enum { OK, ERROR, UNKNOWN, UNSUPPORTED, SEQUENCE_ERR, OBSOLETE, THREAD_ERR, MEM_TOO_SMALL };
enum {
  FORK = 1, JOIN, BEGIN_IDLE, END_IDLE, BEGIN_IBAR, END_IBAR, BEGIN_EBAR, END_EBAR,
  BEGIN_LKWT, END_LKWT, BEGIN_CTWT, END_CTWT, BEGIN_ODWT, END_ODWT, BEGIN_MASTER, END_MASTER,
  BEGIN_SINGLE, END_SINGLE, BEGIN_ORDERED, END_ORDERED, BEGIN_ATWT, END_ATWT,
  BEGIN_CREATE_TASK, END_CREATE_TASK, LAST_EVENT = END_CREATE_TASK
};
enum { OVHD = 1, WORK, IBAR, EBAR, IDLE, SERIAL, REDUC, LKWT, CTWT, ODWT, ATWT };

static const char *const codes[] = { "OK", "ERROR", "UNKNOWN", "UNSUPPORTED", "SEQUENCE_ERR",
                                     "OBSOLETE", "THREAD_ERR", "MEM_TOO_SMALL" };
static const char *const states[] = { "?", "OVHD", "WORK", "IBAR", "EBAR", "IDLE", "SERIAL",
                                      "REDUC", "LKWT", "CTWT", "ODWT", "ATWT" };

int __omp_collector_api(void *);

typedef void (*callback)(int);

/* One message with room for an answer of 12 bytes, and the end of the buffer. */
typedef struct {
  int size, request, code, answer;
  char memory[12];
  int end;
} message;

/* Sends a request with so much memory. */
static message ask(int request, int room)
{
  message m = { 16 + room, request, -1, -1, { 0 }, 0 };
  memset(m.memory, 0, sizeof m.memory);
  *(int *)(m.memory + room) = 0;
  if (__omp_collector_api(&m) != 0)
    m.code = -2;
  return m;
}

static int state_of(message m)
{
  int state;
  memcpy(&state, m.memory, 4);
  return state;
}

static uint64_t wait_of(message m)
{
  uint64_t id;
  memcpy(&id, m.memory + 4, 8);
  return m.answer == 12 ? id : 0;
}

static uint64_t id_of(message m)
{
  uint64_t id;
  memcpy(&id, m.memory, 8);
  return id;
}

static message ask_register(int event, callback function)
{
  message m = { 28, REGISTER, -1, -1, { 0 }, 0 };
  memcpy(m.memory, &event, 4);
  memcpy(m.memory + 4, &function, 8);
  if (__omp_collector_api(&m) != 0)
    m.code = -2;
  return m;
}

static message ask_unregister(int event)
{
  message m = { 20, UNREGISTER, -1, -1, { 0 }, 0 };
  memcpy(m.memory, &event, 4);
  if (__omp_collector_api(&m) != 0)
    m.code = -2;
  return m;
}
