# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c rotation_shares.gp DATA SVG
data = ARG1
set terminal svg size 860,460 font "sans-serif,12" background "white"
set output ARG2
set title "R9: adaptive turns beside equal ones, 8 sets of 4 events in one residency"
set ylabel "half of the 95 % interval, of the truth (%)"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.7
set xtics rotate by -25
set yrange [0:50]
set grid ytics
set key top right
plot data index 0 every ::1 using 2:xtic(1) linecolor 1 title "equal turns", \
  "" index 0 every ::1 using 3 linecolor 2 title "adaptive turns"
