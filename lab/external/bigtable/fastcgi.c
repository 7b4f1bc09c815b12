/* The page of the suite bigtable as a FastCGI program: PROGRAM SOCKET PROCESSES. */
#include <fcgiapp.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

static void page(FCGX_Stream *out) {
    FCGX_PutS("Content-Type: text/html\r\n\r\n", out);
    FCGX_PutS("<table>", out);
    for (int row = 0; row < 1000; row++) {
        FCGX_PutS("<tr>", out);
        for (int column = 1; column <= 50; column++) FCGX_FPrintF(out, "<td>%d</td>", column);
        FCGX_PutS("</tr>", out);
    }
    FCGX_PutS("</table>", out);
}

int main(int count, char **words) {
    if (count != 3 || FCGX_Init() != 0) return 2;
    int listening = FCGX_OpenSocket(words[1], 64);
    if (listening < 0) return 1;
    for (int others = atoi(words[2]); others > 0; others--) {
        if (fork() != 0) continue;
        FCGX_Request request;
        if (FCGX_InitRequest(&request, listening, 0) != 0) return 1;
        while (FCGX_Accept_r(&request) == 0) {
            page(request.out);
            FCGX_Finish_r(&request);
        }
        return 0;
    }
    while (wait(NULL) > 0) {}
    return 0;
}
