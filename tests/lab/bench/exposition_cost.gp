# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c exposition_cost.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "Making a scrape of new counts"
set xlabel "series"
set ylabel "ms"
set logscale xy
set format "10^{%T}"
set grid
set key top left Left reverse
plot for [i=0:3] data index i with linespoints pointtype 7 pointsize 0.5 title columnheader(1)
