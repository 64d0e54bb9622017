# SPDX-License-Identifier: GPL-2.0-or-later
#
# Medians and bootstrap intervals, shared by the benches.
package stats;
use strict;
use warnings;

sub median {
	my @v = sort { $a <=> $b } @_;
	return undef unless @v;
	my $m = int(@v / 2);
	return @v % 2 ? $v[$m] : ($v[ $m - 1 ] + $v[$m]) / 2;
}

# 95 % interval of the median, by resampling; the seed is fixed so that a report can be repeated.
sub interval {
	my @v = @_;
	my @medians;
	srand(1);
	for (1 .. 2000) {
		push @medians, median(map { $v[ rand @v ] } @v);
	}
	@medians = sort { $a <=> $b } @medians;
	return @medians[ 50, 1949 ];
}

1;
