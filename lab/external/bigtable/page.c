/* The page of the suite bigtable as a CGI program: written into the buffer of stdio, as one writes it. */
#include <stdio.h>

int main(void) {
    fputs("Content-Type: text/html\r\n\r\n", stdout);
    fputs("<table>", stdout);
    for (int row = 0; row < 1000; row++) {
        fputs("<tr>", stdout);
        for (int column = 1; column <= 50; column++) printf("<td>%d</td>", column);
        fputs("</tr>", stdout);
    }
    fputs("</table>", stdout);
    return 0;
}
