# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c rotation_relations.gp DATA SVG
data = ARG1
set terminal svg size 720,440 font "sans-serif,12" background "white"
set output ARG2
set title "R7: what relations leave between the bounds of 32 events of states"
set ylabel "upper - lower, of the context's cycles"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.7
set xrange [-0.6:2.6]
set yrange [0:0.7]
set grid ytics
set key top right
plot for [i=2:4] data index 0 every ::1 using i:xtic(1) linecolor (i - 1) title sprintf("ctx%d", i - 2)
