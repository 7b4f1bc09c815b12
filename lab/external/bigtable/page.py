#!/usr/bin/python3
"""The page of the suite bigtable as a CGI program in Python."""
import sys

write = sys.stdout.write
write("Content-Type: text/html\r\n\r\n")
write("<table>")
for row in range(1000):
    write("<tr>")
    for column in range(1, 51):
        write(f"<td>{column}</td>")
    write("</tr>")
write("</table>")
