/* The runner's own process: what it needs for the next call is taken from it, or what it says next is changed. */
#include "hostile.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { channel = 3, memory = 4 };

static void pause_for_ever(void) {
  for (;;) pause();
}
static void* pauses(void* nothing) {
  pause_for_ever();
  return nothing;
}
static void leave_pausing_thread(void) {
  pthread_t id;
  pthread_create(&id, 0, pauses, 0);
}

/* Takes address space from the runner in its second call: it could not be asked any more. */
HOSTILE_AFTER(takes_addresses) {
  UNUSED;
  static int calls;
  const struct rlimit little = {1 << 20, 1 << 20};
  if (++calls == 2) setrlimit(RLIMIT_AS, &little);
}
HOSTILE_AFTER(locks_addresses) {
  UNUSED;
  static int calls;
  const struct rlimit little = {65536, 65536};
  if (++calls == 2) setrlimit(RLIMIT_MEMLOCK, &little), mlockall(MCL_FUTURE);
}

/* Ends the first thread of its process while another lives on: /proc has the process as dead. */
HOSTILE(ends_first_thread) {
  UNUSED;
  leave_pausing_thread();
  syscall(SYS_exit, 0);
}
HOSTILE(unwinds_caller) {
  UNUSED;
  leave_pausing_thread();
  pthread_exit(0);
}

/* Becomes a program that prints a verdict, and sleeps. */
HOSTILE(becomes_sleeper) {
  UNUSED;
  char name[] = "sh", option[] = "-c", script[] = "echo 'CERTIFIED: all is well'; exec sleep 3600";
  char *words[] = {name, option, script, 0}, *nothing[] = {0};
  execve("/bin/sh", words, nothing);
}

/* Waits for a child that shares its memory and does not end. */
HOSTILE(waits_for_vfork) {
  UNUSED;
  if (syscall(SYS_clone, 0x4000 /* CLONE_VFORK */ | SIGCHLD, 0, 0, 0, 0) == 0) pause_for_ever();
}
HOSTILE(leaves_stopped_child) {
  UNUSED;
  if (fork() == 0)
    for (;;) raise(SIGSTOP);
}

/* The memory of the tensors: closed, another in its place, holes in it, written at its end alone. */
HOSTILE(closes_memory) {
  UNUSED;
  close(memory);
}
HOSTILE_ONCE(replaces_memory) {
  UNUSED;
  int const other = memfd_create("other", 0);
  if (other >= 0 && ftruncate(other, 16 << 20) == 0) dup2(other, memory);
}
HOSTILE_AFTER(punches_holes) {
  UNUSED;
  struct stat about;
  if (fstat(memory, &about) == 0) fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, about.st_size);
}
HOSTILE_AFTER(appends_to_memory) {
  UNUSED;
  fcntl(memory, F_SETFL, O_APPEND);
}
HOSTILE_AFTER(writes_memory_directly) {
  UNUSED;
  fcntl(memory, F_SETFL, O_DIRECT);
}
/* Private memory in the place of the output: the answer is not in what the judge reads. */
HOSTILE(answers_elsewhere) {
  uintptr_t const o = (uintptr_t)call->out->data + call->out->byte_offset;
  mmap((void*)(o & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
/* The note of a crash as the runner writes it, of nonsense, and then another end. */
HOSTILE(forges_crash_note) {
  UNUSED;
  static const struct {
    uint32_t magic, access;
    uint64_t sequence;
    int64_t address;
  } note = {0x48535243, 7, 1, INT64_MIN};
  (void)!pwrite(memory, &note, sizeof note, 0);
  abort();
}

/* The channel: it drops what the judge sends, does not wait, or is closed by one who stays. */
HOSTILE(drops_questions) {
  UNUSED;
  struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
  const struct sock_fprog program = {1, &none};
  setsockopt(channel, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}
HOSTILE(does_not_wait) {
  UNUSED;
  fcntl(channel, F_SETFL, O_NONBLOCK);
}
HOSTILE(closes_the_channel_and_stays) {
  UNUSED;
  close(channel);
  pause_for_ever();
}
static void* takes(void* nothing) {
  static char question[1 << 16];
  for (;;) recv(channel, question, sizeof question, 0);
  return nothing;
}
HOSTILE_ONCE(takes_the_next_questions) {
  UNUSED;
  pthread_t id;
  /* One of them is there before the runner, or the runner before them all: the questions that it takes are answered. */
  for (int several = 0; several < 8; ++several) pthread_create(&id, 0, takes, 0);
  usleep(200000);
}
/* The runner gets another channel in the place of its own. What it answers there is passed on once: after that the
 * judge hears nothing, and the runner gets no question. */
static int judge_end, runner_end;
static void* passes_on(void* nothing) {
  static char answer[1 << 16];
  ssize_t const bytes = recv(runner_end, answer, sizeof answer, 0);
  if (bytes > 0) send(judge_end, answer, (size_t)bytes, 0);
  pause_for_ever();
  return nothing;
}
HOSTILE_ONCE(comes_between) {
  UNUSED;
  int ends[2];
  pthread_t id;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return;
  judge_end = dup(channel), runner_end = ends[1];
  dup2(ends[0], channel);
  pthread_create(&id, 0, passes_on, 0);
}
/* "The tensors could not be mapped", in the words of the runner. */
HOSTILE(says_it_was_not_asked) {
  UNUSED;
  static const struct {
    uint32_t magic;
    int32_t status;
    uint64_t sequence, rest[3];
  } forged = {.magic = 0x4D454D4E, .sequence = 1};
  send(channel, &forged, sizeof forged, MSG_DONTWAIT);
}

/* System calls of the runner answered by a filter of the kernel: to receive, to send, to end. */
static void answer_calls(long number, uint32_t answer) {
  struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
                                BPF_STMT(BPF_RET | BPF_K, answer), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {4, steps};
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
HOSTILE_AFTER(filters_receive) {
  UNUSED;
  answer_calls(SYS_recvfrom, SECCOMP_RET_ERRNO);
}
HOSTILE_AFTER(filters_send) {
  UNUSED;
  answer_calls(SYS_sendto, SECCOMP_RET_ERRNO);
}
HOSTILE(cannot_end) {
  UNUSED;
  answer_calls(SYS_exit_group, SECCOMP_RET_ERRNO | 1);
  _exit(0);
}

/* Answers once, and hangs in every call after that. */
HOSTILE(hangs_after_first) {
  UNUSED;
  static int calls;
  if (calls++) pause_for_ever();
}
/* A signal that strikes after the call, and one ten thousand times a second that is handled. */
HOSTILE(leaves_alarm) {
  UNUSED;
  const struct itimerval soon = {{0, 0}, {0, 300}};
  setitimer(ITIMER_REAL, &soon, 0);
}
static void ignore(int number) { (void)number; }
HOSTILE(leaves_timer) {
  UNUSED;
  const struct sigaction action = {.sa_handler = ignore};
  const struct itimerval often = {{0, 100}, {0, 100}};
  sigaction(SIGALRM, &action, 0);
  setitimer(ITIMER_REAL, &often, 0);
}

/* Takes the runner's code and stack away, or its data. */
HOSTILE(unmaps_everything) {
  UNUSED;
  static unsigned long from[512], to[512];
  char line[512];
  int count = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps && count < 512 && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx", &from[count], &to[count]) == 2) ++count;
  for (int n = 0; n < count; ++n) munmap((void*)from[n], to[n] - from[n]);
}
HOSTILE(overwrites_runner) {
  UNUSED;
  unsigned long from, to;
  char line[512], access[8];
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && access[1] == 'w' && strstr(line, "attest-runner"))
      memset((void*)from, 0xA5, to - from);
}
