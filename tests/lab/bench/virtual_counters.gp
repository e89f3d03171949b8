# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c virtual_counters.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "VM exits: the time to count a live chip"
set xlabel "exits a second and slice"
set ylabel "time, of the same chip without exits"
set logscale x
set format x "10^{%T}"
set yrange [0:*]
set grid
set key top left Left reverse
plot for [i=0:1] data index i with linespoints pointtype 7 pointsize 0.5 title columnheader(1), \
  1 with lines linecolor "black" notitle
