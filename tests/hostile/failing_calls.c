// A shim for LD_PRELOAD that makes one chosen system call on a file below a folder fail.
//   FC_UNDER   the folder; calls on other files are left alone
//   FC_WHAT    writes or reads: which calls are counted
//   FC_FAULT   enospc, eio, short, kill
//   FC_AT      the number of the call that fails, from 1 (every process counts for itself)
//   FC_LOG     a file to which the name of every counted call is appended
//   FC_STRUCK  a file that is made when the fault has struck
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static const char *under, *fault, *log_file, *struck_file;
static long fails_at;
static int of_reads;

__attribute__((constructor)) static void begin(void) {
  under = getenv("FC_UNDER");
  fault = getenv("FC_FAULT");
  log_file = getenv("FC_LOG");
  struck_file = getenv("FC_STRUCK");
  fails_at = getenv("FC_AT") ? atol(getenv("FC_AT")) : 0;
  of_reads = getenv("FC_WHAT") && !strcmp(getenv("FC_WHAT"), "reads");
}

static int is_inside(const char* path) {
  char whole[2 * PATH_MAX];
  if (!under || !path) return 0;
  if (path[0] != '/') {
    if (!getcwd(whole, PATH_MAX)) return 0;
    strcat(whole, "/");
    strncat(whole, path, PATH_MAX - 1);
    path = whole;
  }
  return strncmp(path, under, strlen(under)) == 0;
}

static const char* name_of(int fd, char* name) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, name, PATH_MAX - 1);
  name[size > 0 ? size : 0] = 0;
  return name;
}

enum Outcome { goes_on, fails, is_short };

static enum Outcome strike(const char* what, const char* path) {
  const long number = ++calls;
  if (log_file) {
    char text[2 * PATH_MAX];
    const int size = snprintf(text, sizeof text, "%s %s\n", what, path);
    const int to = (int)syscall(SYS_openat, AT_FDCWD, log_file, O_WRONLY | O_CREAT | O_APPEND, 0644);
    syscall(SYS_write, to, text, size);
    syscall(SYS_close, to);
  }
  if (!fault || fails_at <= 0 || number < fails_at) return goes_on;
  if (struck_file) {
    const int made = (int)syscall(SYS_openat, AT_FDCWD, struck_file, O_WRONLY | O_CREAT, 0644);
    syscall(SYS_close, made);
  }
  const int is_this = number == fails_at;
  if (!strcmp(fault, "kill")) {
    if (is_this) syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    return goes_on;
  }
  if (!strcmp(fault, "eio")) {
    errno = EIO;
    return is_this ? fails : goes_on;
  }
  if (!strcmp(fault, "short") && (of_reads || is_this)) return is_short;  // all reads from here on are short
  if (!strcmp(what, "unlink") || !strcmp(what, "remove")) return goes_on;  // a full disk lets go of files
  errno = ENOSPC;
  return fails;
}

static enum Outcome strike_path(int reads, const char* what, const char* path) {
  return reads == of_reads && is_inside(path) ? strike(what, path) : goes_on;
}
static enum Outcome strike_fd(int reads, const char* what, int fd) {
  char name[PATH_MAX];
  return reads == of_reads && is_inside(name_of(fd, name)) ? strike(what, name) : goes_on;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define MODE                       \
  mode_t mode = 0;                 \
  if (flags & (O_CREAT)) {         \
    va_list rest;                  \
    va_start(rest, flags);         \
    mode = va_arg(rest, mode_t);   \
    va_end(rest);                  \
  }

static int open_any(int folder, const char* path, int flags, mode_t mode) {
  const int reads = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) == 0;
  if (strike_path(reads, "open", path) == fails) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}
int open(const char* path, int flags, ...) { MODE return open_any(AT_FDCWD, path, flags, mode); }
int open64(const char* path, int flags, ...) { MODE return open_any(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int folder, const char* path, int flags, ...) { MODE return open_any(folder, path, flags, mode); }
FILE* fopen(const char* path, const char* how) {
  return strike_path(!strpbrk(how, "wa+"), "open", path) == fails ? NULL : REAL(fopen)(path, how);
}
FILE* fopen64(const char* path, const char* how) {
  return strike_path(!strpbrk(how, "wa+"), "open", path) == fails ? NULL : REAL(fopen64)(path, how);
}

static size_t cut(enum Outcome outcome, size_t size) { return outcome == is_short && size > 1 ? size / 2 : size; }

ssize_t read(int fd, void* data, size_t size) {
  const enum Outcome outcome = strike_fd(1, "read", fd);
  return outcome == fails ? -1 : syscall(SYS_read, fd, data, cut(outcome, size));
}
ssize_t pread(int fd, void* data, size_t size, off_t offset) {
  const enum Outcome outcome = strike_fd(1, "read", fd);
  return outcome == fails ? -1 : syscall(SYS_pread64, fd, data, cut(outcome, size), offset);
}
ssize_t write(int fd, const void* data, size_t size) {
  const enum Outcome outcome = strike_fd(0, "write", fd);
  return outcome == fails ? -1 : syscall(SYS_write, fd, data, cut(outcome, size));
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  return strike_fd(0, "write", fd) == fails ? -1 : syscall(SYS_writev, fd, parts, count);
}
int fsync(int fd) { return strike_fd(0, "fsync", fd) == fails ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return strike_fd(0, "fsync", fd) == fails ? -1 : (int)syscall(SYS_fdatasync, fd); }
int ftruncate(int fd, off_t size) {
  return strike_fd(0, "truncate", fd) == fails ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}
int rename(const char* from, const char* to) {
  return strike_path(0, "rename", to) == fails ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
int mkdir(const char* path, mode_t mode) {
  return strike_path(0, "mkdir", path) == fails ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
int unlink(const char* path) {
  return strike_path(0, "unlink", path) == fails ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
int unlinkat(int folder, const char* path, int flags) {
  return strike_path(0, "unlink", path) == fails ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}
int remove(const char* path) { return strike_path(0, "remove", path) == fails ? -1 : REAL(remove)(path); }
