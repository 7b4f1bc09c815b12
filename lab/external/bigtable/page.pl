#!/usr/bin/perl
# The page of the suite bigtable as a CGI program in Perl.
use strict;
use warnings;

print "Content-Type: text/html\r\n\r\n";
print "<table>";
for my $row (1 .. 1000) {
    print "<tr>";
    print "<td>$_</td>" for 1 .. 50;
    print "</tr>";
}
print "</table>";
