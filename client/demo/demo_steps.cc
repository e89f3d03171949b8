// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_steps.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sideband::client {

std::string ScrapeCommand(const std::string& user, const DemoPorts& ports) {
  return absl::StrCat("curl -sS --cacert ca.pem --cert ", user, ".pem --key ", user,
                      ".key https://127.0.0.1:", ports.http, "/metrics");
}

std::string Repeated(const std::string& command) {
  return absl::StrCat("for i in $(seq 40); do ", command, " && break; sleep 0.25; done");
}

namespace {

std::string Sideband(const std::string& user, const std::string& arguments) {
  return absl::StrCat("sideband --config ", user, ".yaml ", arguments);
}

std::string Label(const DemoVm& vm) { return absl::StrCat("vm=\"", vm.name, "\""); }

const DemoVm* FindVm(const std::vector<DemoVm>& vms, const std::string& tenant, bool confidential) {
  const auto found = std::find_if(
      vms.begin(), vms.end(), [&](const DemoVm& vm) { return vm.tenant == tenant && vm.confidential == confidential; });
  return found == vms.end() ? nullptr : &*found;
}

std::vector<DemoStep> OperatorSteps(const std::vector<DemoVm>& vms, const DemoPorts& ports, const std::string& event,
                                    Sums sums) {
  DemoStep scrape{
      .title = "The operator's scrape: the device and each open VM, but no tenant's contexts",
      .command = absl::StrCat(ScrapeCommand("operator", ports), " | grep -E '^sideband_(device_up|vm_info|(device|vm)_",
                              event, "_total).device=.gpu0'"),
      .absent = {"context="},
      .scrape_sums = sums,
      .event = event};
  for (const DemoVm& vm : vms) scrape.present.push_back(Label(vm));
  return {std::move(scrape),
          {.title = "… and all scopes of the device", .command = Sideband("operator", "scopes --device gpu0")}};
}

std::vector<DemoStep> TenantSteps(const DemoVm& own, const std::vector<DemoVm>& vms, const DemoPorts& ports,
                                  const std::vector<std::string>& events, Sums sums) {
  DemoStep get{.title = absl::StrCat("What ", own.tenant, " sees over gRPC: its VM and the VM's contexts"),
               .command = Sideband(own.tenant, absl::StrCat("get --event ", absl::StrJoin(events, " --event "))),
               .present = {own.name},
               .table_sums = sums};
  for (const std::string& context : own.contexts) get.present.push_back(context);
  std::vector<DemoStep> steps = {std::move(get)};
  for (const DemoVm& other : vms) {
    if (other.tenant == own.tenant) continue;
    // grep -c exits with 1 if it counts no lines.
    steps.push_back({.title = absl::StrCat("Lines of ", other.name, " in ", own.tenant, "'s scrape: none"),
                     .command = absl::StrCat(ScrapeCommand(own.tenant, ports), " | grep -c '", Label(other), "'"),
                     .exit_status = 1,
                     .present = {"0"}});
    steps.push_back({.title = absl::StrCat("Asked for by name, ", other.name, " does not exist for ", own.tenant),
                     .command = Sideband(own.tenant, absl::StrCat("get --vm ", other.name)),
                     .exit_status = 1,
                     .absent = events});
  }
  return steps;
}

// A guest reads its counters by registers; the daemon latches a snapshot; the guest reads again.
DemoStep BracketStep(const DemoVm& vm, const std::vector<std::string>& events) {
  const std::string& context = vm.contexts[0];
  const std::string options = absl::StrCat(" --event ", absl::StrJoin(events, " --event "));
  const std::string read =
      absl::StrCat("sideband hpc read --port guests/", vm.name, ".", context, ".sock --shared", options);
  // The third update was latched after the first was shown. Of its table: the titles, a line per event, an empty line.
  const std::string watch = Sideband(
      vm.tenant,
      absl::StrCat("watch --context ", context, options, " --format table --count 3 | tail -n ", events.size() + 2));
  return {.title = absl::StrCat("Inside ", context, " of ", vm.name,
                                ": its own counters in registers, before and after a snapshot of the daemon"),
          .command = absl::StrCat(read, "; ", watch, "; ", read),
          .growing = events};
}

// The kernel is over: nothing counts between the guest's reading and the snapshot.
DemoStep KernelStep(const DemoVm& vm, const std::vector<std::string>& events) {
  const std::string options = absl::StrCat(" --event ", absl::StrJoin(events, " --event "));
  return {.title = absl::StrCat("A kernel of ", vm.name,
                                ", from its beginning to its end: the registers inside, and the daemon's snapshot"),
          .command = absl::StrCat(
              "sideband hpc read --port guests/", vm.name, ".", vm.finished_context, ".sock --shared", options, "; ",
              Sideband(vm.tenant, absl::StrCat("get --vm ", vm.name, " --context ", vm.finished_context, options))),
          .equal = events};
}

// A tenant asks about a part of its program.
std::vector<DemoStep> MarkSteps(const DemoVm& vm, const std::vector<std::string>& events) {
  const std::string& context = vm.contexts[0];
  const auto mark = [&](const char* label) {
    return Sideband(vm.tenant,
                    absl::StrCat("mark --device gpu0 --vm ", vm.name, " --context ", context, " '", label, "'"));
  };
  return {{.title = absl::StrCat(vm.tenant, " marks where a kernel of ", context, " begins and ends"),
           .command = absl::StrCat(mark("kernel begins"), "; sleep 0.1; ", mark("kernel ends")),
           .present = {"mark 1 of ", "mark 2 of "}},
          {.title = "… and gets the exact counts in between, and the duration",
           .command = Sideband(vm.tenant, absl::StrCat("span --device gpu0 --vm ", vm.name, " --from 1 --to 2 --event ",
                                                       absl::StrJoin(events, " --event "))),
           .present = {"duration ", "±1 ns", events[0]}}};
}

// The coverage is of the interval before the last snapshot: the first whole one after the choice shows it.
std::string AwaitCoverage(const DemoVm& vm, const DemoPorts& ports) {
  return Repeated(
      absl::StrCat(ScrapeCommand(vm.tenant, ports), " | grep 'vm_gate_coverage.*\"", vm.chosen.group, "\"} 1$'"));
}

// A tenant chooses what is counted of its VM, on counters that another tenant's VM uses for other events.
std::vector<DemoStep> SelectionSteps(const DemoVm& vm, const DemoVm& other, const DemoPorts& ports) {
  const std::string& foreign = vm.chosen.events[0];
  const auto get = [](const DemoVm& of) {
    return Sideband(of.tenant,
                    absl::StrCat("get --vm ", of.name, " --event ", absl::StrJoin(of.chosen.events, " --event ")));
  };
  return {
      {.title = absl::StrCat(vm.tenant, " chooses the ", vm.chosen.group, " events for ", vm.name,
                             ", on counters that ", other.name, " uses for its ", other.chosen.group, " events"),
       .command = Sideband(vm.tenant, absl::StrCat("counting set --vm ", vm.name, " --selection ", vm.chosen.number)),
       .present = {"is in force"}},
      {.title = "… and both are counted all the time: 1 is a coverage of 100 %",
       .command = absl::StrCat(AwaitCoverage(vm, ports), "; ", AwaitCoverage(other, ports)),
       .present = {absl::StrCat("gate_group=\"", vm.chosen.group, "\""),
                   absl::StrCat("gate_group=\"", other.chosen.group, "\"")}},
      {.title = absl::StrCat("The counts so far; COVER is the share of all the time, also of that before ", vm.tenant,
                             " chose"),
       .command = absl::StrCat(get(vm), "; ", get(other)),
       .present = {vm.chosen.events[0], other.chosen.events[0]}},
      {.title = absl::StrCat(other.tenant, " was not granted the ", vm.chosen.group,
                             " events: for it, the selection does not exist"),
       .command =
           Sideband(other.tenant, absl::StrCat("counting set --vm ", other.name, " --selection ", vm.chosen.number)),
       .exit_status = 1,
       .present = {absl::StrCat("no selection ", vm.chosen.number)}},
      {.title = absl::StrCat("Why ", foreign, " is not counted for ", other.name),
       .command =
           Sideband("operator", absl::StrCat("counting explain --device gpu0 --vm ", other.name, " --event ", foreign)),
       .present = {"is not counted"}},
  };
}

// Inside the guest. Exchanges of keys may have used up their part of the bus's time, of which a slow machine needs
// more.
std::string Unseal(const DemoVm& vm) {
  return Sideband(vm.tenant,
                  absl::StrCat("unseal --vm ", vm.name, " --exchange --sealer-ca sealer-ca.pem --throwaway-psp . ",
                               "--measurement ", DemoMeasurement(), " --state ", vm.name, ".state"));
}

std::vector<DemoStep> ConfidentialSteps(const DemoVm& vm, const DemoPorts& ports, const std::string& event) {
  return {{.title = absl::StrCat(vm.name, " is confidential: not even the operator has its counters"),
           .command = absl::StrCat(ScrapeCommand("operator", ports), " | grep -c '_total{.*", Label(vm), "'"),
           .exit_status = 1,
           .present = {"0"}},
          {.title = "… but its guest does: it exchanges keys with the device, and opens a sealed record",
           .command = Repeated(absl::StrCat(Unseal(vm), " --count 1 | grep -E 'record|CONTEXT|", event, "'")),
           .present = {vm.uuid, event}},
          {.title = "… and keeps another one",
           .command = absl::StrCat(Repeated(absl::StrCat(Unseal(vm), " --count 1 --format json > ", vm.name, ".json")),
                                   "; wc -l < ", vm.name, ".json"),
           .present = {"1"}},
          {.title = absl::StrCat("The bus's owner cannot read them: searched for the numbers of ", vm.name,
                                 ".json in all of the bus's traffic (gpu0.sbt)"),
           .counts_of = absl::StrCat(vm.name, ".json"),
           .searched = DemoStep::Place::kBus},
          {.title = "… nor can root on the daemon's host: searched for the same numbers in sidebandd's memory",
           .counts_of = absl::StrCat(vm.name, ".json"),
           .searched = DemoStep::Place::kDaemonMemory}};
}

// The steps of the first VM that chooses other events than those that all VMs begin with.
std::vector<DemoStep> AllSelectionSteps(const std::vector<DemoVm>& vms, const DemoPorts& ports) {
  const auto chooses = [](const DemoVm& vm) { return !vm.chosen.group.empty() && vm.chosen.number > 0; };
  const auto keeps = [](const DemoVm& vm) { return !vm.chosen.group.empty() && vm.chosen.number == 0; };
  const auto vm = std::ranges::find_if(vms, chooses), other = std::ranges::find_if(vms, keeps);
  if (vm == vms.end() || other == vms.end()) return {};
  return SelectionSteps(*vm, *other, ports);
}

// The operator's samples of `device` that the pattern selects, without their HELP and TYPE.
std::string Samples(const std::string& families, const std::string& device, const DemoPorts& ports) {
  return absl::StrCat(ScrapeCommand("operator", ports), " | grep -E '^sideband_(", families, ").device=.", device, "'");
}

std::string Sample(const std::string& family, const std::string& device) {
  return absl::StrCat("sideband_", family, "{device=\"", device, "\"");
}

// Exact, estimated, derived and estimated, derived and exact.
constexpr char kShown[] =
    "instructions_issued_cycles sm_active_cycles tensor_active_cycles tensor_issued_cycles fp32_active_cycles "
    "memory_stall_cycles page_walk_cycles instructions_retired_cycles";

}  // namespace

std::vector<DemoStep> MakeDemoSteps(const std::vector<DemoVm>& vms, const DemoPorts& ports,
                                    const std::vector<std::string>& events, Sums sums) {
  std::vector<DemoStep> steps = OperatorSteps(vms, ports, events[0], sums);
  const auto append = [&steps](std::vector<DemoStep> more) { steps.insert(steps.end(), more.begin(), more.end()); };
  for (const char* tenant : {"tenant-a", "tenant-b"}) {
    if (const DemoVm* own = FindVm(vms, tenant, false)) append(TenantSteps(*own, vms, ports, events, sums));
  }
  append(AllSelectionSteps(vms, ports));
  for (const DemoVm& vm : vms) {
    if (vm.has_users) append({BracketStep(vm, events)});
    if (vm.has_users) append(MarkSteps(vm, events));
    if (!vm.finished_context.empty()) append({KernelStep(vm, events)});
  }
  for (const DemoVm& vm : vms) {
    if (vm.confidential) append(ConfidentialSteps(vm, ports, events[0]));
  }
  return steps;
}

std::vector<DemoStep> BoardSteps(const std::string& device, const std::string& tenant, const DemoPorts& ports) {
  // The first metrics come with the board's second capture.
  const std::string partitions = Repeated(Samples("partition_(sm_activity|dram_usage)_ratio", device, ports));
  return {{.title = absl::StrCat("Beside devices with counters, ", device,
                                 " is an SMBPBI-only board: it has neither a clock nor a boot of counters"),
           .command = "sideband --config operator.yaml devices",
           .present = {device, "gpu0"}},
          {.title = "… but sensors, which it reports by SMBPBI's base commands: heat, power and what slows it down",
           .command = absl::StrCat(
               Samples("temperature(_margin)?_celsius|power(_limit)?_watts|throttle_active", device, ports),
               " | grep -vE 'minimum|maximum|default'"),
           .present = {Sample("temperature_celsius", device), Sample("temperature_margin_celsius", device),
                       Sample("power_watts", device), Sample("power_limit_watts", device),
                       Sample("throttle_active", device)}},
          {.title = "… and how busy its partitions (GPU instances) and their compute instances are",
           .command = partitions,
           .present = {Sample("partition_sm_activity_ratio", device), Sample("partition_dram_usage_ratio", device)}},
          // A board's sensors tell of all VMs on it. grep -c exits with 1 if it counts no lines.
          {.title = absl::StrCat("Lines of ", device, " in ", tenant, "'s scrape: none"),
           .command = absl::StrCat(ScrapeCommand(tenant, ports), " | grep -c '", device, "'"),
           .exit_status = 1,
           .present = {"0"}}};
}

DemoStep BmcStep() {
  return {.title =
              "Two GPUs, hgx-gpu1 and hgx-gpu2, are read through the Redfish service of a BMC, which a mock plays here",
          .command = Sideband("operator",
                              "sensors --device hgx-gpu1 --name power --name temperature --name energy "
                              "--name board_tensor_activity"),
          .present = {"hgx-gpu1", "power ", " W\n", "temperature ", " °C\n", "energy ", "board_tensor_activity "}};
}

std::vector<DemoStep> RotationSteps(const std::string& device, const std::string& twin) {
  // The contexts of both devices end a second after the start; until then their cycles differ.
  const std::string compare = Repeated(absl::StrCat("sideband --config operator.yaml get --device ", device,
                                                    " --device ", twin, " --vm vm4 --bounds | awk -v show='", kShown,
                                                    "' -v skip='^(l2_|resident_)' -f compare.awk"));
  return {{.title = absl::StrCat(device, " multiplexes 40 events on 6 counters: what is counted together"),
           .command = absl::StrCat("sideband --config operator.yaml rotation plan --device ", device),
           .present = {"tensor_active_cycles"}},
          {.title = absl::StrCat("The estimates of vm4 beside the truth, which ", twin,
                                 " knows: it did the same work with a counter for each event"),
           .command = compare,
           .present = {"40 of 40 within their bounds"},
           .absent = {"NO"}}};
}

std::string WaysIn(const DemoPorts& ports) {
  return absl::StrCat(
      "  ", Sideband("operator", "top"), "\n  ", ScrapeCommand("operator", ports),
      "\n  openssl pkcs12 -export -passout pass:demo -in operator.pem -inkey operator.key -out "
      "operator.p12\n\nThe status page is https://127.0.0.1:",
      ports.http,
      "/ for a browser that has imported operator.p12 (password: demo) as its certificate and ca.pem as "
      "an authority.\n");
}

std::string CheckStep(const DemoStep& step, int exit_status, const std::string& output) {
  if (exit_status != step.exit_status) return absl::StrCat("exit status ", exit_status, ", not ", step.exit_status);
  for (const std::string& text : step.present) {
    if (!absl::StrContains(output, text)) return absl::StrCat("'", text, "' is missing");
  }
  for (const std::string& text : step.absent) {
    if (absl::StrContains(output, text)) return absl::StrCat("'", text, "' should not be there");
  }
  for (const std::string& event : step.growing) {
    if (std::string wrong = CheckGrowth(output, event); !wrong.empty()) return wrong;
  }
  for (const std::string& event : step.equal) {
    if (std::string wrong = CheckEquality(output, event); !wrong.empty()) return wrong;
  }
  std::string wrong = CheckScrapeSums(output, step.event, step.scrape_sums);
  return wrong.empty() ? CheckTableSums(output, step.table_sums) : wrong;
}

}  // namespace sideband::client
