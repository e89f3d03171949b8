# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c rotation_bursts.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "R8: ten events of a bursty program on four counters"
set xlabel "length of the run (ms)"
set ylabel "mean error of 20 programs (%)"
set logscale xy
set grid
set key top right Right
turns(i) = i == 0 ? "100 us" : "4 ms"
plot for [i=0:1] data index i every ::1 using 1:2 with linespoints pointtype 7 pointsize 0.6 linecolor (i + 1) \
    title "ours, turns of " . turns(i), \
  for [i=0:1] data index i every ::1 using 1:3 with linespoints dashtype 2 pointtype 6 pointsize 0.6 linecolor (i + 1) \
    title "perf's way, turns of " . turns(i)
