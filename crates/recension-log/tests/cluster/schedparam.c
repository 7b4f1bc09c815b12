/* Galera writes the scheduling priority of its thread to its log, and gives up if the system does not tell it. Some
   sandboxes do not. The test puts this before the system's own answer there, and only there. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *parameter) {
    (void)thread;
    *policy = SCHED_OTHER;
    memset(parameter, 0, sizeof *parameter);
    return 0;
}
