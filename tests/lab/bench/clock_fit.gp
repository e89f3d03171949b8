# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c clock_fit.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "A segment of a clock of 1.25 GHz"
set xlabel "packets"
set ylabel "ns"
set logscale xy
set grid
set key bottom left Left reverse
plot data index 0 with lines linewidth 2 title columnheader(1), \
  data index 1 every 8 with points pointtype 7 pointsize 0.4 title columnheader(1), \
  data index 2 every 8 with points pointtype 7 pointsize 0.4 title columnheader(1), \
  data index 3 with lines linewidth 2 dashtype 2 title columnheader(1)
