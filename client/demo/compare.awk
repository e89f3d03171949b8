# Compares two devices that ran the same work: what the first shows of each event, where events are multiplexed on few
# counters, and the truth, which the second has counted. Input: the tables of
#   sideband get --device FIRST --device SECOND --vm VM --bounds
# Variables: `show`, the events that are printed, separated by spaces; all that `skip`, a pattern, does not match are in
# the summary. Exit status 1, without a word, while the two have not run for as many cycles as each other.
BEGIN {
  n = split(show, shown, " ")
}
/^[^ ]+  +[0-9]+-[0-9]+-[0-9]+T/ {  # the line above a device's table
  ++device
}
$2 == "-" && $4 ~ /^~?[0-9,]+$/ {
  if (device == 1) first($3)
  if (device == 2) truth[$3] = $4
}
function first(event,    at) {
  at = $5 ~ /^[0-9]/ ? 5 : 6  # an error may stand between the count and the bounds
  estimate[event] = $4
  error[event] = at == 6 ? $5 : ""
  lower[event] = $at
  upper[event] = $(at + 1)
  coverage[event] = $(NF - 1) == "%" ? $(NF - 2) " %" : "-"
}
function padded(half,    digits) {  # awk may count bytes; "±" is two
  digits = half
  sub(/±/, "", digits)
  return (half == "" ? " " : "±") sprintf("%-10s", digits)
}
function value(number) {
  gsub(/[~,]/, "", number)
  return number + 0
}
function is_within(event,    t) {
  t = value(truth[event])
  return value(lower[event]) <= t && (upper[event] == "-" || t <= value(upper[event]))
}
function off(event,    t) {  # the distance of what is shown from the truth, in percent
  t = value(truth[event])
  return t == 0 ? 0 : 100 * (value(estimate[event]) - t) / t
}
END {
  cycles = "resident_cycles"
  if (!(cycles in truth) || value(truth[cycles]) == 0 || truth[cycles] != estimate[cycles]) exit 1
  printf "%-27s  %14s %-11s  %8s  %13s  %13s  %13s  %6s  %s\n",
         "EVENT", "SHOWN", "", "COVERAGE", "LOWER", "UPPER", "TRUTH", "OFF", "WITHIN"
  for (i = 1; i <= n; ++i) {
    e = shown[i]
    printf "%-27s  %14s %s  %8s  %13s  %13s  %13s  %4.1f %%  %s\n",
           e, estimate[e], padded(error[e]), coverage[e], lower[e], upper[e], truth[e], off(e), is_within(e) ? "yes" : "NO"
  }
  for (e in estimate) {
    if (e ~ skip) continue
    ++all
    if (estimate[e] ~ /^~/) ++estimates
    if (off(e) <= 10 && off(e) >= -10) ++near
    if (is_within(e)) ++within
  }
  printf "%d of %d events within 10 %% of the truth, %d of %d within their bounds, %d estimated\n",
         near, all, within, all, estimates
}
