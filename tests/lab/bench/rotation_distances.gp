# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c rotation_distances.gp DATA SVG
data = ARG1
set terminal svg size 860,500 font "sans-serif,12" background "white"
set output ARG2
set multiplot layout 1,2 title "R3: 234 events whose estimate is that near to the truth"
set xlabel "distance at most (% of the truth)"
set ylabel "events (%)"
set logscale x
set xrange [0.001:100]
set yrange [0:100]
set grid
set key below Left reverse maxcols 2
# Blocks: five profiles of long runs, then of short ones; the traditional one is exact.
do for [first in "1 6"] {
  plot for [i=int(first):int(first)+3] data index i using 1:2 with steps linewidth 1.5 title columnheader(1)
}
unset multiplot
