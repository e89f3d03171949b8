# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c rotation_slots.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "R6: two counter sets in turn: events whose estimate is within 10 % of the truth"
set xlabel "slot (cycles)"
set ylabel "share of the events, mean of 20 runs (%)"
set logscale x 2
set yrange [0:100]
set grid
set key bottom right Right
plot for [i=0:2] data index i with linespoints dashtype 1 pointtype 7 pointsize 0.5 linecolor i + 1 \
       title columnheader(1), \
     for [i=3:5] data index i with linespoints dashtype 2 pointtype 6 pointsize 0.5 linecolor i - 2 \
       title columnheader(1)
