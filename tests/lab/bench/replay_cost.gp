# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c replay_cost.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "Cost of a replay of packed signals"
set xlabel "signals × cycles / 64"
set ylabel "ms"
set logscale xy
set format "10^{%T}"
set grid
set key top left Left reverse
# What a linear cost looks like.
stats data using 1:($2/$1) index 1 nooutput
plot for [i=0:1] data index i with linespoints pointtype 7 pointsize 0.5 title columnheader(1), \
  STATS_mean_y * x with lines dashtype 2 linecolor "gray" title "slope 1"
