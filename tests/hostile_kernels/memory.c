/* Memory: more than there is, the judge's own, and what is shared with it. */
#include "hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { shared = 4 }; /* the descriptor of the memory that the judge shares */
static size_t const much = (size_t)256 << 20;

HOSTILE(maps_without_end) {
  UNUSED;
  for (;;) {
    char* const part = mmap(0, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED) _exit(8);
    memset(part, 1, much);
  }
}
HOSTILE(children_map) {
  UNUSED;
  for (int n = 0; n < 24; ++n)
    if (fork() == 0) {
      char volatile* const part = malloc(much);
      for (size_t at = 0; part && at < much; at += 4096) part[at] = 1;
      for (;;) pause();
    }
  usleep(3000000);
}
HOSTILE(fills_memory_files) {
  UNUSED;
  for (int n = 0; n < 4; ++n) {
    int const file = memfd_create("hostile", 0);
    if (file < 0 || ftruncate(file, (off_t)much) != 0) _exit(8);
    char* const part = mmap(0, much, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (part != MAP_FAILED) memset(part, 1, much);
  }
}
HOSTILE(fills_segments) {
  UNUSED;
  int const id = shmget(IPC_PRIVATE, much, IPC_CREAT | 0600);
  if (id >= 0) {
    char* const part = shmat(id, 0, 0);
    if (part != (char*)-1) memset(part, 1, 4096);
  }
}
HOSTILE(fills_scratch) {
  UNUSED;
  int const file = open("/dev/shm/hostile-file", O_CREAT | O_WRONLY, 0600);
  static char block[1 << 20];
  if (file < 0) return;
  while (write(file, block, sizeof block) > 0) continue;
}
/* The shared memory: shorter, longer, sealed, scribbled over for ever. */
HOSTILE(cuts_shared) {
  UNUSED;
  if (ftruncate(shared, 0) == 0) _exit(8);
}
HOSTILE(stretches_shared) {
  UNUSED;
  if (ftruncate(shared, (off_t)1 << 40) != 0) raise(SIGSEGV);
}
HOSTILE(seals_shared) {
  UNUSED;
  fcntl(shared, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE);
}
static unsigned passes; /* over the whole shared memory, counted when each is over */
static void* scribble(void* nothing) {
  for (unsigned char pattern = 1;; ++pattern) {
    struct stat about;
    if (fstat(shared, &about) != 0 || about.st_size == 0) continue;
    unsigned char* const memory = mmap(0, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (memory == MAP_FAILED) continue;
    for (off_t at = 4096; at < about.st_size; at += 4) memory[at] = pattern;
    munmap(memory, (size_t)about.st_size);
    __atomic_add_fetch(&passes, 1, __ATOMIC_SEQ_CST);
  }
  return nothing;
}
/* No call ends before a whole pass has gone over its answer, however busy the machine is; the thread goes on while it
 * is judged. */
HOSTILE_AFTER(scribbles_for_ever) {
  UNUSED;
  static int started;
  pthread_t id;
  if (!started++) pthread_create(&id, 0, scribble, 0);
  unsigned const before = __atomic_load_n(&passes, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&passes, __ATOMIC_SEQ_CST) - before < 2) sched_yield();
}
/* Writes to an input through a mapping of its own, and puts back what was there. */
HOSTILE(makes_inputs_writable) {
  char* const page = (char*)((size_t)call->q->data & ~(size_t)4095);
  if (call->q->data && mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0) {
    char* const first = (char*)call->q->data + call->q->byte_offset;
    char const before = *first;
    *first = (char)(before + 1);
    *first = before;
  }
}
HOSTILE(changes_inputs) {
  char* const page = (char*)((size_t)call->q->data & ~(size_t)4095);
  if (call->q->data && mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0)
    *((char*)call->q->data + call->q->byte_offset) ^= 1;
}
HOSTILE(changes_the_call) { ((attest_call*)(size_t)call)->threads += 1; }
/* The memory of other processes: the judge is the parent of the parents. */
static void write_to(int process) {
  char path[64], forged[64] = {1};
  struct iovec mine = {forged, sizeof forged}, its = {(void*)0x10000, sizeof forged};
  snprintf(path, sizeof path, "/proc/%d/mem", process);
  int const file = open(path, O_RDWR);
  if (file >= 0 && process != getpid()) _exit(21);
  if (file >= 0) close(file);
  if (process != getpid() && syscall(SYS_process_vm_writev, process, &mine, 1, &its, 1, 0) >= 0) _exit(22);
  if (process != getpid() && ptrace(PTRACE_ATTACH, process, 0, 0) == 0) _exit(23);
}
HOSTILE(writes_to_everybody) {
  UNUSED;
  DIR* const folder = opendir("/proc");
  for (struct dirent* entry = folder ? readdir(folder) : 0; entry; entry = readdir(folder)) {
    int const process = atoi(entry->d_name);
    if (process > 0) write_to(process);
  }
  if (folder) closedir(folder);
}
HOSTILE(handles_faults_of_others) {
  UNUSED;
  long const fault_descriptor = syscall(SYS_userfaultfd, 0);
  if (fault_descriptor >= 0) _exit(24);
}
HOSTILE(locks_all_memory) {
  UNUSED;
  mlockall(MCL_CURRENT | MCL_FUTURE);
}
