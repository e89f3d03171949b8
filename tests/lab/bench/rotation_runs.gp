# SPDX-License-Identifier: Apache-2.0
#   gnuplot -c rotation_runs.gp DATA SVG
data = ARG1
set terminal svg size 860,400 font "sans-serif,12" background "white"
set output ARG2
set multiplot layout 1,3 title "236 events on 6 counters, k-means of 420 s"
set style data histograms
set style fill solid 0.7
set style histogram clustered gap 0.4
set xtics rotate by -35
set grid ytics
set key off
set logscale y
set yrange [0.5:200]
set title "R1: runs"
plot data index 0 every ::1::4 using 2:xtic(1) linecolor 1, "" index 0 every ::1::4 using 0:2:2 with labels offset 0,0.6
set title "R2: times less time"
plot data index 0 every ::1::4 using 3:xtic(1) linecolor 2, \
  "" index 0 every ::1::4 using 0:3:(sprintf("%.3g", $3)) with labels offset 0,0.6
unset logscale y
set yrange [0:3000]
set title "R4: turns in even phases"
plot data index 0 every ::2::3 using 4:xtic(1) linecolor 3, "" index 0 every ::2::3 using 0:4:4 with labels offset 0,0.6
unset multiplot
