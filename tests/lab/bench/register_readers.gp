# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c register_readers.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "Reading counters by registers: gain of an eager reader"
set xlabel "counters"
set ylabel "patient reader's cycles of the eager reader's"
set grid
set key bottom right Left reverse
plot for [i=0:5] data index i with lines title columnheader(1), 1 with lines linecolor "black" notitle
