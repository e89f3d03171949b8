# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c rotation_sets.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "R5: more sets in turns of 511 cycles: events whose estimate is within 10 % of the truth"
set xlabel "counter sets"
set ylabel "share of the events, mean of 20 runs (%)"
set logscale x 2
set xtics (2, 4, 8)
set xrange [1.8:9]
set yrange [0:100]
set grid
set key bottom left Left reverse
plot for [i=0:2] data index i with linespoints pointtype 7 pointsize 0.6 linecolor (i + 1) title columnheader(1)
