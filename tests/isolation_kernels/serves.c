/* A program that serves the kernel of a library, as one in another language would (attest/serve.h).
 *
 *   serves LIBRARY                        in the cage: attest audit --kernel 'command:serves LIBRARY'
 *   serves --ask LIBRARY PROGRAM WORD...  starts PROGRAM WORD... --channel FD and serves it; its exit status is
 *   PROGRAM's
 *
 * Where the environment variable SERVES_SAYS is set, calls with a softcap fail and say its value. */
#include <attest/serve.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Built with the address sanitizer, it looks for no leaks: for that it would have to be traced, which the cage refuses.
 */
char const* __asan_default_options(void);
char const* __asan_default_options(void) { return "detect_leaks=0"; }

typedef attest_status (*kernel_function)(attest_call const*);
static kernel_function of_library;
typedef attest_status (*merge_function)(attest_merge_call const*);
static merge_function merge_of_library;

static attest_status kernel(attest_call const* call) {
  char const* says = getenv("SERVES_SAYS");
  if (says && call->softcap != 0) {
    attest_serve_say(says);
    return ATTEST_FAILED;
  }
  return of_library(call);
}

/* Loads the library; NULL, or why not. */
static char const* load(char const* library) {
  void* loaded = dlopen(library, RTLD_NOW);
  void* symbol = loaded ? dlsym(loaded, "attest_attention") : NULL;
  memcpy(&of_library, &symbol, sizeof symbol);
  if (!symbol) return dlerror();
  symbol = dlsym(loaded, "attest_merge");
  memcpy(&merge_of_library, &symbol, sizeof symbol);
  return NULL;
}

static int served(attest_server* server) {
  if (!server) return 3;
  attest_serve_merges(server, merge_of_library);
  while (attest_serve_next(server, kernel, -1) >= 0) continue;
  attest_serve_end(server);
  return 0;
}

static int ask(char** words) {
  int ends[2], status = 0;
  char number[16];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return 4;
  pid_t id = fork();
  if (id == 0) {
    char* arguments[64] = {0};
    int count = 0;
    close(ends[0]);
    snprintf(number, sizeof number, "%d", ends[1]);
    while (words[count] && count < 60) arguments[count] = words[count], ++count;
    arguments[count] = "--channel", arguments[count + 1] = number;
    execv(arguments[0], arguments);
    _exit(5);
  }
  close(ends[1]);
  if (served(attest_serve_attached(ends[0], "served by its process")) != 0 || waitpid(id, &status, 0) != id) return 6;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 7;
}

int main(int count, char** words) {
  int asks = count > 3 && strcmp(words[1], "--ask") == 0;
  char const* why = count > 1 ? load(words[asks ? 2 : 1]) : "no library was named";
  if (why) {
    attest_serve_refuse(why);
    fprintf(stderr, "serves: %s\n", why);
    return 2;
  }
  return asks ? ask(words + 3) : served(attest_serve_caged("served by a program"));
}
