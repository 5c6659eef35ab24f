/* Makes calls of the C library fail: preloaded into a program, it stands between it and the system.
 *
 * LATTICE_FAULTS is a list of faults, separated by commas:
 *
 *   send:ENOBUFS/10     every tenth call that sends datagrams fails with that error
 *   recv:ECONNREFUSED/3 every third call that receives datagrams
 *   write:ENOSPC/1      every write to a file; descriptors 0 to 2 are spared
 *   log:ENOSPC/1        every write to descriptor 2
 *   entropy:EAGAIN*50   the first 50 calls of getrandom
 *   clock:-3000@2000    2 s after the start, the monotonic clock steps back by 3 s (milliseconds)
 *
 * FAULT_UNTIL_MS ends the faults of the first four kinds so long after the start.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct fault {
  int error;  /* 0: none */
  long every; /* of so many calls one fails; 0: the first `first` fail */
  long first;
  atomic_long calls;
};

static struct fault send_fault, recv_fault, write_fault, log_fault, entropy_fault;
static long clock_step_ms, clock_at_ms, until_ms;
static int64_t start_ns;

static const struct {
  const char* name;
  int number;
} errors[] = {{"ENOBUFS", ENOBUFS},
              {"ECONNREFUSED", ECONNREFUSED},
              {"ENOSPC", ENOSPC},
              {"EAGAIN", EAGAIN},
              {"ENOMEM", ENOMEM},
              {"ENETDOWN", ENETDOWN},
              {"EHOSTUNREACH", EHOSTUNREACH},
              {"EPERM", EPERM},
              {"EINTR", EINTR},
              {"EIO", EIO},
              {"EPIPE", EPIPE}};

static void* real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

static int64_t real_now_ns(void) {
  static int (*next)(clockid_t, struct timespec*);
  struct timespec now = {0};
  if (next == NULL) *(void**)&next = real("clock_gettime");
  next(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int read_fault(const char* text, const char* name, struct fault* out) {
  const size_t length = strlen(name);
  if (strncmp(text, name, length) != 0 || text[length] != ':') return 0;
  text += length + 1;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
    const size_t word = strlen(errors[i].name);
    if (strncmp(text, errors[i].name, word) != 0) continue;
    out->error = errors[i].number;
    if (text[word] == '/') out->every = strtol(text + word + 1, NULL, 10);
    if (text[word] == '*') out->first = strtol(text + word + 1, NULL, 10);
  }
  if (out->error == 0 || (out->every <= 0 && out->first <= 0)) {
    fprintf(stderr, "fault_injector: cannot read '%s'\n", text);
    abort();
  }
  return 1;
}

__attribute__((constructor)) static void begin(void) {
  const char* text = getenv("LATTICE_FAULTS");
  const char* until = getenv("FAULT_UNTIL_MS");
  start_ns = real_now_ns();
  if (until != NULL) until_ms = strtol(until, NULL, 10);
  while (text != NULL && *text != 0) {
    if (sscanf(text, "clock:%ld@%ld", &clock_step_ms, &clock_at_ms) != 2 &&
        !read_fault(text, "send", &send_fault) && !read_fault(text, "recv", &recv_fault) &&
        !read_fault(text, "write", &write_fault) && !read_fault(text, "log", &log_fault) &&
        !read_fault(text, "entropy", &entropy_fault)) {
      fprintf(stderr, "fault_injector: there is no fault '%s'\n", text);
      abort();
    }
    text = strchr(text, ',');
    if (text != NULL) ++text;
  }
}

/* Whether this call fails; errno says how. */
static int fails(struct fault* fault) {
  if (fault->error == 0) return 0;
  const long call = atomic_fetch_add(&fault->calls, 1) + 1;
  if (until_ms != 0 && real_now_ns() - start_ns > (int64_t)until_ms * 1000000) return 0;
  if (fault->every > 0 ? call % fault->every != 0 : call > fault->first) return 0;
  errno = fault->error;
  return 1;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
  static int (*next)(clockid_t, struct timespec*);
  if (next == NULL) *(void**)&next = real("clock_gettime");
  const int result = next(clock, out);
  if (result != 0 || clock != CLOCK_MONOTONIC || clock_step_ms == 0) return result;
  int64_t now = (int64_t)out->tv_sec * 1000000000 + out->tv_nsec;
  if (now - start_ns >= (int64_t)clock_at_ms * 1000000) now += (int64_t)clock_step_ms * 1000000;
  out->tv_sec = (time_t)(now / 1000000000);
  out->tv_nsec = (long)(now % 1000000000);
  return 0;
}

ssize_t write(int fd, const void* bytes, size_t count) {
  static ssize_t (*next)(int, const void*, size_t);
  if (next == NULL) *(void**)&next = real("write");
  if (fails(fd == 2 ? &log_fault : fd > 2 ? &write_fault : &(struct fault){0})) return -1;
  return next(fd, bytes, count);
}

ssize_t getrandom(void* out, size_t bytes, unsigned flags) {
  static ssize_t (*next)(void*, size_t, unsigned);
  if (next == NULL) *(void**)&next = real("getrandom");
  if (fails(&entropy_fault)) return -1;
  return next(out, bytes, flags);
}

#define SENDS(result_type, name, parameters, arguments) \
  result_type name parameters {                         \
    static result_type(*next) parameters;               \
    if (next == NULL) *(void**)&next = real(#name);     \
    if (fails(&send_fault)) return -1;                  \
    return next arguments;                              \
  }
#define RECEIVES(result_type, name, parameters, arguments) \
  result_type name parameters {                            \
    static result_type(*next) parameters;                  \
    if (next == NULL) *(void**)&next = real(#name);        \
    if (fails(&recv_fault)) return -1;                     \
    return next arguments;                                 \
  }

SENDS(int, sendmmsg, (int fd, struct mmsghdr* all, unsigned count, int flags), (fd, all, count, flags))
SENDS(ssize_t, sendmsg, (int fd, const struct msghdr* one, int flags), (fd, one, flags))
SENDS(ssize_t, sendto,
      (int fd, const void* bytes, size_t count, int flags, const struct sockaddr* to, socklen_t size),
      (fd, bytes, count, flags, to, size))
RECEIVES(int, recvmmsg, (int fd, struct mmsghdr* all, unsigned count, int flags, struct timespec* wait),
         (fd, all, count, flags, wait))
RECEIVES(ssize_t, recvmsg, (int fd, struct msghdr* one, int flags), (fd, one, flags))
RECEIVES(ssize_t, recvfrom,
         (int fd, void* bytes, size_t count, int flags, struct sockaddr* from, socklen_t* size),
         (fd, bytes, count, flags, from, size))
