# SPDX-License-Identifier: Apache-2.0
"""Resources of machines that exist nowhere: an NVIDIA HGX board and an AMD UBB with moving values; and a captured tree.

A generated machine has one table of its quantities. A metric report and a resource that show the same quantity have
the same row, so they agree. A value depends on the GPU and on the time since the start alone. Names are those that
public captures of such machines have; every number is made up.
"""

import copy
import datetime
import json
import math
import os
import re
import time
import uuid

UTC = datetime.timezone.utc
ROOT = "/redfish/v1"
REPORTS = ROOT + "/TelemetryService/MetricReports"
OK = {"State": "Enabled", "Health": "OK", "HealthRollup": "OK"}


class Clock:
    """The BMC's clock, which need not be right. Values move with `elapsed_s`, which no step of the clock disturbs."""

    def __init__(self, moment=None):
        self._started, self._frozen_s = time.monotonic(), None
        self.set(moment or datetime.datetime.now(UTC))

    def elapsed_s(self):
        return time.monotonic() - self._started

    def stamped_s(self):
        """The elapsed time that timestamps show."""
        return self.elapsed_s() if self._frozen_s is None else self._frozen_s

    def at(self, elapsed_s):
        return self._zero + datetime.timedelta(seconds=elapsed_s)

    def now(self):
        return self.at(self.stamped_s())

    def set(self, moment):
        self._zero = moment - datetime.timedelta(seconds=self.stamped_s())

    def jump(self, seconds):
        self._zero += datetime.timedelta(seconds=seconds)

    def freeze(self):
        """Stops timestamps; values move on."""
        self._frozen_s = self.elapsed_s()

    def thaw(self):
        self._frozen_s = None


# --- How values move -----------------------------------------------------------------------------------------------

def wave(middle, swing, period_s=90.0, step=0.001):
    """Rises and falls by `swing` around `middle`; each GPU is at another point of the wave."""
    def value(t, gpu):
        return round(step * round((middle + swing * math.sin(2 * math.pi * (t / period_s + gpu / 8))) / step), 6)
    return value if step != 1 else lambda t, gpu: int(value(t, gpu))


def constant(value):
    return lambda t, gpu: value


HEALTH = constant("OK")  # of a GPU, which Machine.health may have ill

class Counter:
    """Never falls, but for a reset or a wrap at `wraps_at`. `total(t, gpu)` is what was counted; `show` its form."""

    def __init__(self, total, show=int, wraps_at=None):
        self.total, self.show, self.wraps_at = total, show, wraps_at


def every(seconds, start=0):
    """Counts one event in `seconds`, on GPU n slower by the factor n + 1."""
    return Counter(lambda t, gpu: start + t / (seconds * (gpu + 1)))


def rate(per_second, start=0, **options):
    return Counter(lambda t, gpu: start + per_second * t * (1 + gpu / 8), **options)


def energy(middle, swing, period_s=90.0, start=2.5e8):
    """The energy of a power that is wave(middle, swing, period_s)."""
    def joules(t, gpu):
        def falling(at):
            return math.cos(2 * math.pi * (at / period_s + gpu / 8))
        return start + middle * t + swing * period_s / (2 * math.pi) * (falling(0) - falling(t))
    return Counter(joules, show=lambda total: round(total, 3))


def duration(seconds):
    """The text of ISO 8601, as bmcweb writes it: P6DT23H36M51.224568128S"""
    days, rest = divmod(round(seconds, 9), 86400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    parts = [("%d%s" % (number, unit)) for number, unit in ((hours, "H"), (minutes, "M")) if number]
    return "P%sT%s%.9fS" % ("%dD" % days if days else "", "".join(parts), rest)


THROTTLE_PERIOD_S, THROTTLED_S = 120, 30


def throttled_s(t, gpu):
    periods, part = divmod(t / THROTTLE_PERIOD_S + gpu / 8, 1)
    return periods * THROTTLED_S + min(part * THROTTLE_PERIOD_S, THROTTLED_S)


def throttle_reasons(t, gpu):
    return ["SWPowerCap"] if (t + gpu * THROTTLE_PERIOD_S / 8) % THROTTLE_PERIOD_S < THROTTLED_S else ["NA"]


# --- The quantities ------------------------------------------------------------------------------------------------

POWER = (480, 160)
GPU, MEMORY, CHASSIS = ("/redfish/v1/Systems/HGX_Baseboard_0/Processors/{gpu}",
                        "/redfish/v1/Systems/HGX_Baseboard_0/Memory/{gpu}_DRAM_0", "/redfish/v1/Chassis/HGX_{gpu}")
SENSOR, METRICS, PORT = CHASSIS + "/Sensors/HGX_{gpu}_", GPU + "/ProcessorMetrics", GPU + "/Ports/NVLink_{port}"
ECC = ("CorrectableECCErrorCount", "UncorrectableECCErrorCount")
ACTIVITIES = {"GraphicsEngineActivity": 80, "SMActivity": 70, "SMOccupancy": 45, "TensorCoreActivity": 40,
              "FP16Activity": 20, "FP32Activity": 15, "FP64Activity": 5, "IntegerActivityUtilization": 12,
              "DMMAUtilization": 3, "HMMAUtilization": 35, "IMMAUtilization": 2, "NVDecUtilization": 6,
              "NVJpgUtilization": 4, "NVOfaUtilization": 1}
# From this period on, firmware samples one value after the other: those of a report have different ages.
SPREAD_S = 30
# How long before the start the health was last found to be another one, which is all that its times say.
HEALTH_AGE_S = 75 * 86400
# {report, or None where only resources show it: (period of its samples in seconds,
#  [(resource, JSON pointer or "" of a sensor, value)])}
HGX = {
    "HGX_PlatformEnvironmentMetrics_0": (0.25, [
        (SENSOR + "TEMP_0", "", wave(58, 9, step=1 / 256)),
        (SENSOR + "TEMP_1", "", lambda t, gpu: round(87 - wave(58, 9, step=1 / 256)(t, gpu), 6)),
        (SENSOR + "DRAM_0_Temp_0", "", wave(66, 7, step=1 / 256)),
        (SENSOR + "Power_0", "", wave(*POWER)),
        (SENSOR + "DRAM_0_Power_0", "", wave(70, 20)),
        (SENSOR + "Energy_0", "", energy(*POWER)),
        ("/redfish/v1/Chassis/HGX_Chassis_0/Sensors/HGX_Chassis_0_TotalGPU_Power_0", "", wave(3840, 20))]),
    "HGX_ProcessorGPMMetrics_0": (1, [
        (METRICS, "/Oem/Nvidia/%sPercent" % name, wave(percent, percent / 5, 60))
        for name, percent in ACTIVITIES.items()
    ] + [(METRICS, "/Oem/Nvidia/%sBandwidthGbps" % name, wave(middle, middle / 4, 45)) for name, middle in (
        ("PCIeRawTx", 120), ("PCIeRawRx", 90), ("NVLinkDataTx", 800), ("NVLinkDataRx", 760), ("NVLinkRawTx", 880),
        ("NVLinkRawRx", 836))]),
    "HGX_ProcessorMetrics_0": (SPREAD_S, [
        (METRICS, "/OperatingSpeedMHz", wave(1700, 250, step=1)),
        (METRICS, "/BandwidthPercent", wave(75, 15)),
        (METRICS, "/Oem/Nvidia/SMUtilizationPercent", constant(0.0)),
        (METRICS, "/Oem/Nvidia/ThrottleReasons", throttle_reasons),
        (METRICS, "/PowerLimitThrottleDuration", Counter(throttled_s, duration)),
        (METRICS, "/Oem/Nvidia/GlobalSoftwareViolationThrottleDuration", Counter(throttled_s, duration)),
        (METRICS, "/ThermalLimitThrottleDuration", constant("PT0S")),
        (METRICS, "/Oem/Nvidia/HardwareViolationThrottleDuration", constant("PT0S")),
        (METRICS, "/CacheMetricsTotal/LifeTime/" + ECC[0], every(40, start=3)),
        (METRICS, "/CacheMetricsTotal/LifeTime/" + ECC[1], constant(0)),
        (METRICS, "/Oem/Nvidia/SRAMECCErrorThresholdExceeded", constant(False)),
        (METRICS, "/Oem/Nvidia/PCIeTXBytes", rate(9e8, wraps_at=2**32)),
        (METRICS, "/Oem/Nvidia/PCIeRXBytes", rate(7e8, wraps_at=2**32)),
        (CHASSIS + "/PCIeDevices/{gpu}", "/PCIeInterface/LanesInUse", constant(16)),
        (CHASSIS + "/PCIeDevices/{gpu}", "/PCIeInterface/MaxLanes", constant(16)),
    ] + [(METRICS, "/PCIeErrors/%sCount" % name, every(seconds)) for name, seconds in (
        ("CorrectableError", 25), ("NonFatalError", 9e9), ("FatalError", 9e9), ("L0ToRecovery", 60), ("Replay", 50),
        ("ReplayRollover", 9e9), ("NAKSent", 70), ("NAKReceived", 80), ("UnsupportedRequest", 9e9))]),
    "HGX_MemoryMetrics_0": (SPREAD_S, [
        (MEMORY + "/MemoryMetrics", "/OperatingSpeedMHz", constant(2619)),
        (MEMORY + "/MemoryMetrics", "/BandwidthPercent", wave(55, 20)),
        (MEMORY + "/MemoryMetrics", "/CapacityUtilizationPercent", wave(70, 10, step=1)),
        (MEMORY + "/MemoryMetrics", "/LifeTime/" + ECC[0], every(30, start=11)),
        (MEMORY + "/MemoryMetrics", "/LifeTime/" + ECC[1], every(900)),
        (MEMORY, "/Oem/Nvidia/RowRemappingFailed", constant(False)),
        (MEMORY, "/Oem/Nvidia/RowRemappingPending", constant(False)),
    ] + [(MEMORY + "/MemoryMetrics", "/Oem/Nvidia/RowRemapping/%sCount" % name, value) for name, value in (
        ("CorrectableRowRemapping", every(300, start=1)), ("UncorrectableRowRemapping", every(1800)),
        ("MaxAvailabilityBank", constant(639)), ("HighAvailabilityBank", constant(1)),
        ("PartialAvailabilityBank", constant(0)), ("LowAvailabilityBank", constant(0)),
        ("NoAvailabilityBank", constant(0)))]),
    "HGX_HealthMetrics_0": (1, [(uri, "/Status/" + name, HEALTH) for uri in (
        CHASSIS, "/redfish/v1/Systems/HGX_Baseboard_0") for name in ("Health", "HealthRollup")]),
    "HGX_ProcessorPortMetrics_0": (5, [
        (PORT, "/CurrentSpeedGbps", constant(212.5)),
        (PORT + "/Metrics", "/RXBytes", rate(4.75e9, start=10**12)),
        (PORT + "/Metrics", "/TXBytes", rate(5e9, start=10**12)),
        (PORT + "/Metrics", "/RXErrors", every(200)),
        (PORT + "/Metrics", "/Networking/RXFrames", rate(3e7)),
        (PORT + "/Metrics", "/Networking/TXFrames", rate(3.1e7)),
        (PORT + "/Metrics", "/Oem/Nvidia/LinkDownedCount", every(3600)),
        (PORT + "/Metrics", "/Oem/Nvidia/UnintentionalLinkDownCount", every(7200, start=2)),
        (PORT + "/Metrics", "/Oem/Nvidia/LinkErrorRecoveryCount", every(500)),
        (PORT + "/Metrics", "/Oem/Nvidia/SymbolErrors", every(150)),
        (PORT + "/Metrics", "/Oem/Nvidia/MalformedPackets", constant(0)),
        (PORT + "/Metrics", "/Oem/Nvidia/TXWait", constant(4294967295)),
        (PORT + "/Metrics", "/Oem/Nvidia/EffectiveBER", constant(1.5e-254)),
        (PORT + "/Metrics", "/Oem/Nvidia/NVLinkErrors/ReplayCount", every(120)),
        (PORT + "/Metrics", "/Oem/Nvidia/NVLinkErrors/RecoveryCount", every(700)),
        (GPU + "/Ports/PCIe_0", "/CurrentSpeedGbps", constant(64.0))]),
    None: (0.25, [
        (GPU + "/EnvironmentMetrics", "/PowerWatts/Reading", wave(*POWER)),
        (GPU + "/EnvironmentMetrics", "/PowerLimitWatts/Reading", wave(*POWER)),
        (GPU + "/EnvironmentMetrics", "/EnergyJoules/Reading", energy(*POWER)),
        # The distance to the limit, as firmware has it.
        (GPU + "/EnvironmentMetrics", "/TemperatureCelsius/Reading",
         lambda t, gpu: round(87 - wave(58, 9, step=1 / 256)(t, gpu), 6)),
        (GPU, "/OperatingSpeedMHz", wave(1700, 250, step=1)),
        (GPU, "/Status/Health", HEALTH),
        (GPU, "/Status/HealthRollup", HEALTH)]),
}
# The table of AMD's boards; "/Reading" is part of a sensor's URI there.
OAM, UBB_GPU, UBB_MEMORY = ("/redfish/v1/Chassis/OAM_{n}", "/redfish/v1/Systems/UBB/Processors/GPU{n}",
                            "/redfish/v1/Systems/UBB/Memory/GPU{n}/MemoryMetrics")
MEMORY_TEMPERATURE = (OAM + "/Sensors/GPU_{n}_MEMORY_TEMP", "", wave(55, 6, step=1))
UBB = {
    "OAM_ProcessorMetrics_0": (1, [
        (OAM + "/Sensors/GPU_{n}_DIE_TEMP", "", wave(60, 8, step=1)),
        (OAM + "/Sensors/GPU_{n}_POWER", "", wave(600, 150, step=1)),
        ("/redfish/v1/Chassis/OAM_0/Sensors/GPU_TOTAL_POWER", "", wave(4800, 90, step=1)),
        ("/redfish/v1/Chassis/OAM_0/Sensors/GPU_WARMEST_DIE_TEMP", "", constant(68)),
        (OAM + "/Sensors/OAM_{n}_MAX_VR_TEMP", "", wave(62, 4, step=1)),
        (OAM + "/Sensors/OAM_{n}_IBC_STATUS", "", constant(2050)),
        (OAM + "/PCIeDevices/{n}", "/PCIeErrors/L0ToRecoveryCount", every(60, start=4)),
        (OAM + "/PCIeDevices/{n}", "/PCIeErrors/NAKReceivedCount", every(80)),
        (OAM + "/PCIeDevices/{n}", "/PCIeErrors/NAKSentCount", every(70)),
        (OAM + "/PCIeDevices/{n}", "/PCIeErrors/ReplayCount", every(50)),
        (UBB_GPU, "/SystemInterface/PCIe/LanesInUse", constant(16))]),
    "OAM_MemoryMetrics_0": (1, [
        MEMORY_TEMPERATURE,
        (UBB_MEMORY, "/OperatingSpeedMhz", constant(2600)),
        (UBB_MEMORY, "/CurrentPeriod/CorrectableECCErrorCount", every(30))]),
    "OAM_ProcessorPortMetrics_0": (5, [
        (UBB_GPU + "/Ports/{port}/Metrics", "/%sBytes" % name, rate(1e9)) for name in ("Aggregated", "RX", "TX")]),
    "PlatformSensorsMetrics_0": (1, [
        ("/redfish/v1/Chassis/UBB/Sensors/UBB_POWER", "", wave(5200, 100, step=1)),
        ("/redfish/v1/Chassis/RETIMER_{n}/Sensors/RETIMER_{n}_TEMP", "", wave(76, 3, step=1)),
        ("/redfish/v1/Chassis/RETIMER_{n}/Sensors/RETIMER_{n}_LINK_WIDTH", "", constant(16))]),
    None: (1, [(UBB_GPU, "/Status/Health", HEALTH), (UBB_GPU, "/Status/HealthRollup", HEALTH)]),
}


class Row:
    """One quantity of one GPU (a number), of one of its ports, or of the whole machine (`owner` is None)."""

    def __init__(self, report, period_s, uri, pointer, value, gpu, owner):
        self.report, self.period_s, self.uri, self.pointer = report, period_s, uri, pointer
        self.value, self.gpu, self.owner = value, gpu, owner
        self.phase_s = 0

    def sampled(self, t):
        """When the sample was taken that is shown at `t`; before the start, it may be."""
        return (t - self.phase_s) // self.period_s * self.period_s + self.phase_s


def put(resource, pointer, value):
    """Sets the member to which a JSON pointer leads."""
    *parents, last = pointer.split("/")[1:]
    for name in parents:
        resource = resource.setdefault(name, {})
    resource[last] = value


def link(uri):
    return {"@odata.id": uri}


class Machine:
    """Resources by URI. A test may change the attributes at any time:

    time_s         the values of this time, in place of the elapsed one; None: they move
    absent         names of GPUs whose State is Absent
    fixed          {MetricProperty: the value that report and resource show}
    health         {GPU: "Warning" or "Critical"}; the others are "OK"
    wraps_at       where every counter begins again at 0
    manager_state  the BMC's own State
    """

    table, start, ports = {}, None, 0
    manager = ROOT + "/Managers/bmc"

    def __init__(self, gpus):
        self.names = [self.name(n) for n in range(gpus)]
        self.time_s, self.absent, self.fixed, self.wraps_at = None, set(), {}, None
        self.manager_state, self.health = "Enabled", {}
        self.restarted = datetime.datetime(2024, 1, 1, tzinfo=UTC)
        self._resets, self._static, self._log = {}, {}, []
        self._rows = [Row(report, period_s, uri.format(gpu=gpu, n=n, port=port), pointer, value, n, "{" in uri and gpu)
                      for report, (period_s, rows) in self.table.items() for n, gpu in enumerate(self.names)
                      for uri, pointer, value in rows if "{" in uri or n == 0
                      for port in range(self.ports if "{port}" in uri else 1)]
        self._by_uri, spread = {}, 0
        for row in self._rows:
            self._by_uri.setdefault(row.uri, []).append(row)
            if row.period_s == SPREAD_S:
                spread += (5 ** 0.5 - 1) / 2  # any so many in a row are far from each other
                row.phase_s = round(spread % 1 * SPREAD_S, 3)
        self.build()

    def reset_counters(self, gpu, clock):
        """The GPU's counters begin again at 0."""
        self._resets[self.names.index(gpu)] = clock.elapsed_s() if self.time_s is None else self.time_s

    def log_xid(self, gpu, code, text, clock):
        """Adds an entry to the log, as firmware does that hears of it from the driver."""
        number = str(len(self._log) + 1)
        self._log.append((gpu, {
            "@odata.type": "#LogEntry.v1_13_0.LogEntry", "Id": number, "Name": "Log Entry", "EntryType": "Event",
            "Created": clock.now().isoformat(timespec="seconds"), "Severity": "Critical",
            "MessageId": "ResourceEvent.1.0.ResourceErrorsDetected",
            "MessageArgs": ["%s Driver Event Message" % gpu, "[0][%s][0] XID %d %s" % (number, code, text)],
            "Message": "%s: XID %d %s" % (gpu, code, text),
            "Links": {"OriginOfCondition": link("%s/Chassis/HGX_%s" % (ROOT, gpu))}}))

    def value(self, row, clock, t=None):
        """What a row shows now, or showed at `t`."""
        if self.property(row) in self.fixed:
            return self.fixed[self.property(row)]
        if t is None:
            t = clock.elapsed_s() if self.time_s is None else self.time_s
        sampled = max(0, row.sampled(t))
        if row.value is HEALTH:
            return self._health_of(row)
        if not isinstance(row.value, Counter):
            return row.value(sampled, row.gpu)
        counted = row.value.total(sampled, row.gpu)
        if row.gpu in self._resets:
            counted = max(0, counted - row.value.total(self._resets[row.gpu], row.gpu))
        if self.wraps_at or row.value.wraps_at:
            counted %= self.wraps_at or row.value.wraps_at
        return row.value.show(counted)

    def values(self, clock):
        """{MetricProperty: value} of what is shown now."""
        return {self.property(row): self.value(row, clock) for row in self._rows if self._is_there(row)}

    def get(self, uri, clock):
        """The body of a GET, or None."""
        name = uri.rpartition("/")[2]
        if uri.startswith(REPORTS + "/"):
            return self._report(name, clock) if name in self.table else None
        if uri in self._static:
            resource = copy.deepcopy(self._static[uri])
        elif uri in self._by_uri:
            resource = self.resource(uri, "#%s.v1_7_0.%s" % (self.type_of(uri), self.type_of(uri)))
        else:
            return self.dynamic(uri, clock)
        for row in self._by_uri.get(uri, ()):
            if self._is_there(row):
                put(resource, row.pointer or "/Reading", self.value(row, clock))
            elif uri not in self._static:
                return None
        if name in self.absent or uri.rpartition("/HGX_")[2] in self.absent:
            resource["Status"] = {"State": "Absent"}
        if uri == self.manager:
            resource["DateTime"] = clock.now().isoformat(timespec="seconds")
            resource["Status"] = {**OK, "State": self.manager_state}
            resource["LastResetTime"] = self.restarted.isoformat(timespec="seconds")
        return json.dumps(resource).encode()

    def _health_of(self, row):
        """That of the whole board is the worst one of its GPUs."""
        if row.owner:
            return self.health.get(row.owner, "OK")
        return next((word for word in ("Critical", "Warning") if word in self.health.values()), "OK")

    def _is_there(self, row):
        return row.owner not in self.absent

    def _report(self, name, clock):
        uri = "%s/%s" % (REPORTS, name)
        values = []
        for row in self._rows:
            if row.report == name and self._is_there(row):
                values += self.metric_values(row, self.value(row, clock), clock)
        return json.dumps({**self.resource(uri, "#MetricReport.v1_4_2.MetricReport"), "Name": name,
                           "MetricReportDefinition": link(uri.replace("Reports", "ReportDefinitions")),
                           **self.report_members(values, clock), "MetricValues": values}).encode()

    # What differs between the vendors.

    def property(self, row):
        return row.uri + ("#" + row.pointer if row.pointer else "")

    def report_members(self, values, clock):
        return {}

    def dynamic(self, uri, clock):
        return None

    # How the resources that do not move are made.

    @staticmethod
    def type_of(uri):
        folder, name = uri.split("/")[-2:]
        return {"Metrics": "PortMetrics", "ProcessorMetrics": name, "MemoryMetrics": name}.get(name) or {
            "Sensors": "Sensor", "Ports": "Port", "PCIeDevices": "PCIeDevice"}[folder]

    @staticmethod
    def resource(uri, kind):
        name = uri.rpartition("/")[2]
        return {"@odata.id": uri, "@odata.type": kind, "Id": name, "Name": name.replace("_", " ")}

    def add(self, uri, kind, **members):
        self._static[uri] = {**self.resource(uri, kind), **members}

    def add_collection(self, uri, members, kind):
        members = [member if member.startswith("/") else "%s/%s" % (uri, member) for member in members]
        self._static[uri] = {"@odata.id": uri, "@odata.type": "#%sCollection.%sCollection" % (kind, kind),
                             "Name": kind + " Collection", "Members@odata.count": len(members),
                             "Members": [link(member) for member in members]}

    def add_collection_of_rows(self, uri, kind):
        """The resources right below `uri` that rows have."""
        self.add_collection(uri, [known for known in self._by_uri if known.rpartition("/")[0] == uri], kind)

    def add_services(self, vendor, product, system, chassis):
        """The root, and what it leads to."""
        services = {name: link("%s/%s" % (ROOT, name)) for name in
                    ("Systems", "Chassis", "Managers", "SessionService", "TelemetryService")}
        self._static[ROOT] = {
            "@odata.id": ROOT, "@odata.type": "#ServiceRoot.v1_15_0.ServiceRoot", "Id": "RootService",
            "Name": "Root Service", "RedfishVersion": "1.17.0", "Vendor": vendor, "Product": product,
            "UUID": str(uuid.uuid5(uuid.NAMESPACE_DNS, product)), **services,
            "Links": {"Sessions": link(ROOT + "/SessionService/Sessions")},
            "ProtocolFeaturesSupported": {"ExpandQuery": {"ExpandAll": True, "Levels": True, "Links": True,
                                                          "MaxLevels": 6, "NoLinks": True},
                                          "FilterQuery": False, "OnlyMemberQuery": False, "SelectQuery": False}}
        self.add(ROOT + "/TelemetryService", "#TelemetryService.v1_2_1.TelemetryService", Status={"State": "Enabled"},
                 MaxReports=10, MinCollectionInterval="PT1S", MetricReports=link(REPORTS))
        self.add_collection(REPORTS, [name for name in self.table if name], "MetricReport")
        self.add_collection(ROOT + "/Systems", [system], "ComputerSystem")
        self.add(ROOT + "/Systems/" + system, "#ComputerSystem.v1_22_0.ComputerSystem", Status=OK, PowerState="On",
                 SystemType="Physical", Processors=link("%s/Systems/%s/Processors" % (ROOT, system)),
                 Memory=link("%s/Systems/%s/Memory" % (ROOT, system)), Manufacturer=vendor, Model=product,
                 Links={"Chassis": [link("%s/Chassis/%s" % (ROOT, chassis[0]))], "ManagedBy": [link(self.manager)]},
                 Boot={"BootSourceOverrideEnabled": "Disabled"},
                 Actions={"#ComputerSystem.Reset": {
                     "target": "%s/Systems/%s/Actions/ComputerSystem.Reset" % (ROOT, system),
                     "ResetType@Redfish.AllowableValues": ["On", "ForceOff"]}})
        self.add_collection(ROOT + "/Chassis", chassis, "Chassis")
        self.add_collection(ROOT + "/Managers", [self.manager], "Manager")
        self.add(self.manager, "#Manager.v1_15_0.Manager", ManagerType="BMC", Status=dict(OK), Model="Mock",
                 FirmwareVersion="mock-1.0", PowerState="On")

    def identity(self, gpu, model):
        number = uuid.uuid5(uuid.NAMESPACE_DNS, model + gpu)
        return {"Manufacturer": model.split()[0], "Model": model, "PartNumber": "MOCK-%d" % len(self.names),
                "SerialNumber": "%013d" % (number.int % 10**13), "UUID": str(number),
                "FirmwareVersion": "1.0.%s" % gpu[-1]}


class HgxMachine(Machine):
    """An NVIDIA board as a host BMC shows it, or without HGX_ in names as its own BMC does; `fixed` has it."""

    table, ports = HGX, 18
    manager = ROOT + "/Managers/HGX_BMC_0"
    system = ROOT + "/Systems/HGX_Baseboard_0"
    thresholds = {"TEMP_0": {"UpperCaution": 87}, "TEMP_1": {"LowerCaution": 0, "LowerCritical": -2, "LowerFatal": -8},
                  "DRAM_0_Temp_0": {"UpperCritical": 95}}

    def __init__(self, gpus, prefix=True):
        super().__init__(gpus)
        self._prefix = prefix

    def get(self, uri, clock):
        if self._prefix:
            return super().get(uri, clock)
        if "HGX_" in uri:
            return None
        body = super().get(re.sub(r"/(Chassis|Sensors|Systems|Managers|MetricReports)/", r"/\1/HGX_", uri), clock)
        return body and body.replace(b"HGX_", b"")

    def values(self, clock):
        values = super().values(clock)
        return values if self._prefix else {name.replace("HGX_", ""): value for name, value in values.items()}

    def name(self, n):
        return "GPU_SXM_%d" % (n + 1)

    def build(self):
        self.add_services("NVIDIA", "Mock HGX", "HGX_Baseboard_0",
                          ["HGX_Chassis_0"] + ["HGX_" + gpu for gpu in self.names])
        self.add(ROOT + "/Chassis/HGX_Chassis_0", "#Chassis.v1_22_0.Chassis", ChassisType="Module", Status=dict(OK))
        self.add_collection(self.system + "/LogServices", ["EventLog"], "LogService")
        self.add_collection(self.system + "/Processors", self.names, "Processor")
        self.add_collection(self.system + "/Memory", [gpu + "_DRAM_0" for gpu in self.names], "Memory")
        for gpu in self.names:
            self._add_processor(GPU.format(gpu=gpu), gpu)
            self._add_chassis(CHASSIS.format(gpu=gpu), gpu)

    def _add_processor(self, uri, gpu):
        memory, chassis = MEMORY.format(gpu=gpu), CHASSIS.format(gpu=gpu)
        self.add(uri, "#Processor.v1_20_0.Processor", ProcessorType="GPU", Status=dict(OK),
                 **self.identity(gpu, "NVIDIA H100 mock"), Metrics=link(uri + "/ProcessorMetrics"),
                 EnvironmentMetrics=link(uri + "/EnvironmentMetrics"), Ports=link(uri + "/Ports"),
                 MinSpeedMHz=345, MaxSpeedMHz=1980, SpeedLimitMHz=65535,
                 OperatingSpeedRangeMHz={"SettingMin": 4294967295, "SettingMax": 4294967295},
                 MemorySummary={"ECCModeEnabled": True, "TotalMemorySizeMiB": 81559},
                 SystemInterface={"InterfaceType": "PCIe",
                                  "PCIe": {"LanesInUse": 16, "MaxLanes": 16, "PCIeType": "Gen5"}},
                 Location={"PartLocation": {"ServiceLabel": gpu[4:].replace("_", "")}}, Links={
                     "Chassis": link(chassis), "Memory": [link(memory)]},
                 Oem={"Nvidia": {"MIGModeEnabled": False, "CCModeEnabled": False, "DefaultBoostClockSpeedMHz": 1980}})
        self.add(uri + "/EnvironmentMetrics", "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
                 PowerLimitWatts={"SetPoint": 700, "AllowableMin": 200, "AllowableMax": 700, "DefaultSetPoint": 700})
        self.add_collection_of_rows(uri + "/Ports", "Port")
        for port in range(self.ports):
            self.add("%s/Ports/NVLink_%d" % (uri, port), "#Port.v1_4_0.Port", PortProtocol="NVLink",
                     LinkStatus="LinkUp", LinkState="Enabled", MaxSpeedGbps=212.5, Status=dict(OK),
                     Metrics=link("%s/Ports/NVLink_%d/Metrics" % (uri, port)))
        self.add(memory, "#Memory.v1_20_0.Memory", MemoryType="DRAM", MemoryDeviceType="HBM", CapacityMiB=81559,
                 Status=dict(OK), Metrics=link(memory + "/MemoryMetrics"), Links={"Processors": [link(uri)]})

    def _add_chassis(self, uri, gpu):
        self.add(uri, "#Chassis.v1_22_0.Chassis", ChassisType="Component", Status=dict(OK),
                 **{name: link("%s/%s" % (uri, name)) for name in ("Sensors", "LogServices", "PCIeDevices")},
                 Links={"Processors": [link(GPU.format(gpu=gpu))]})
        self.add_collection_of_rows(uri + "/Sensors", "Sensor")
        for known in self._static[uri + "/Sensors"]["Members"]:
            self._add_sensor(known["@odata.id"])
        self.add_collection_of_rows(uri + "/PCIeDevices", "PCIeDevice")
        self.add_collection(uri + "/LogServices", ["XID"], "LogService")

    def _add_sensor(self, uri):
        kind, unit = next((kind, unit) for word, kind, unit in (
            ("/TEMP_", "Temperature", "Cel"), ("_temp_", "Temperature", "Cel"), ("_power_", "Power", "W"),
            ("_energy_", "EnergyJoules", "J")) if word in uri.lower())
        thresholds = next((limits for name, limits in self.thresholds.items() if uri.endswith("_" + name) and
                           (name.startswith("DRAM") or "DRAM" not in uri)), {})
        more = {"ReadingBasis": "Headroom"} if uri.endswith("TEMP_1") else {}
        if thresholds:
            more["Thresholds"] = {name: {"Reading": limit} for name, limit in thresholds.items()}
        self.add(uri, "#Sensor.v1_7_0.Sensor", ReadingType=kind, ReadingUnits=unit, Status=dict(OK), **more)

    def metric_values(self, row, value, clock):
        sampled = -HEALTH_AGE_S if row.value is HEALTH else row.sampled(clock.stamped_s())
        common = {"Timestamp": clock.at(sampled).isoformat(timespec="milliseconds")}
        if row.report == "HGX_PlatformEnvironmentMetrics_0":
            common["Oem"] = {"Nvidia": {"MetricValueStale": clock.elapsed_s() - sampled > 0.75}}
        if isinstance(value, list):
            return [{"MetricProperty": "%s/%d" % (self.property(row), n), "MetricValue": one, **common}
                    for n, one in enumerate(value)]
        return [{"MetricProperty": self.property(row), "MetricValue": self._text(row, value), **common}]

    @staticmethod
    def _text(row, value):
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        return "%f" % value if isinstance(value, float) or "/PCIeErrors/" in row.pointer else "%d" % value

    def report_members(self, values, clock):
        return {"Oem": {"Nvidia": {"SensingIntervalMilliseconds": 250}}} if values and "Oem" in values[0] else {}

    def dynamic(self, uri, clock):
        """Logs: a GPU's Xids, and the system's events."""
        match = re.fullmatch(r"(.*)/LogServices/(XID|EventLog)(/Entries)?(?:/(\d+))?", uri)
        if not match or not (uri.startswith(self.system + "/") or match[1].rpartition("HGX_")[2] in self.names):
            return None
        of_gpu = match[1].rpartition("HGX_")[2]
        base = "%s/LogServices/%s" % (match[1], match[2])
        entries = [{"@odata.id": "%s/Entries/%s" % (base, entry["Id"]), **entry} for gpu, entry in self._log
                   if match[2] == "EventLog" or gpu == of_gpu]
        if match[4]:
            return next((json.dumps(entry).encode() for entry in entries if entry["Id"] == match[4]), None)
        if match[3]:
            return json.dumps({"@odata.id": uri, "@odata.type": "#LogEntryCollection.LogEntryCollection",
                               "Name": "Log Entries", "Members@odata.count": len(entries), "Members": entries}).encode()
        latest = entries[-1] if entries else {"Id": "0", "Created": "1970-01-01T00:00:00+00:00"}
        return json.dumps({**self.resource(uri, "#LogService.v1_1_0.LogService"), "Entries": link(uri + "/Entries"),
                           "DateTime": clock.now().isoformat(timespec="seconds"), "OverWritePolicy": "WrapsWhenFull",
                           "Oem": {"Nvidia": {"LatestEntryID": latest["Id"],
                                              "LatestEntryTimeStamp": latest["Created"]}}}).encode()


class UbbMachine(Machine):
    """An AMD board: its clock was never set, and a value's Timestamp is when the value last changed."""

    table, ports = UBB, 8
    start = datetime.datetime(2000, 11, 29, 2, 0, tzinfo=UTC)
    unset = "1970-01-01T00:03:18+00:00"
    longest_walk_s = 120

    def name(self, n):
        return "GPU%d" % n

    def build(self):
        gpus = range(len(self.names))
        self.add_services("AMD", "Mock UBB", "UBB", ["UBB"] + ["OAM_%d" % n for n in gpus] +
                          ["RETIMER_%d" % n for n in gpus])
        self.add(ROOT + "/Chassis/UBB", "#Chassis.v1_22_0.Chassis", ChassisType="Module", Status=dict(OK))
        self.add_collection(ROOT + "/Systems/UBB/Processors", self.names, "Processor")
        self.add_collection(ROOT + "/Systems/UBB/Memory", self.names, "Memory")
        for n in gpus:
            gpu, oam, retimer = UBB_GPU.format(n=n), OAM.format(n=n), "%s/Chassis/RETIMER_%d" % (ROOT, n)
            self.add(gpu, "#Processor.v1_20_0.Processor", ProcessorType="GPU", Status=dict(OK),
                     **self.identity(self.names[n], "AMD MI300 mock"), Links={"Chassis": link(oam)})
            self.add(UBB_MEMORY.format(n=n).rpartition("/")[0], "#Memory.v1_20_0.Memory", MemoryType="DRAM",
                     MemoryDeviceType="HBM", Metrics=link(UBB_MEMORY.format(n=n)), Status=dict(OK))
            for chassis in (oam, retimer):
                self.add(chassis, "#Chassis.v1_22_0.Chassis", ChassisType="Module", Status=dict(OK),
                         Sensors=link(chassis + "/Sensors"), EnvironmentMetrics=link(chassis + "/EnvironmentMetrics"),
                         PCIeDevices=link(chassis + "/PCIeDevices"))
                self.add_collection_of_rows(chassis + "/Sensors", "Sensor")
                self.add_collection_of_rows(chassis + "/PCIeDevices", "PCIeDevice")
            self.add(oam + "/EnvironmentMetrics", "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
                     PowerLimitWatts={"SetPoint": 1000, "AllowableMax": 1000})

    def property(self, row):
        return row.uri + ("#" + row.pointer if row.pointer else "/Reading")

    def metric_values(self, row, value, clock):
        if row.pointer == "":
            value = "%f" % value if isinstance(value, (int, float)) else value
        elif row.uri.endswith("/MemoryMetrics") and isinstance(value, int):
            value = str(value)
        return [{"MetricId": "Platform_Sensor_reading", "MetricProperty": self.property(row), "MetricValue": value,
                 "Timestamp": self._changed(row, clock)}]

    def _changed(self, row, clock):
        if row.pointer:
            return clock.now().isoformat(timespec="seconds")
        sampled = row.sampled(clock.stamped_s())
        for age in range(self.longest_walk_s):
            if self.value(row, clock, sampled - age - row.period_s) != self.value(row, clock, sampled):
                return clock.at(sampled - age).isoformat(timespec="seconds")
        return self.unset

    def report_members(self, values, clock):
        return {"Timestamp": clock.now().isoformat(timespec="seconds"), "MetricValues@odata.count": len(values)}


# --- A captured tree -------------------------------------------------------------------------------------------------

STAMP = re.compile(rb'("Timestamp": *")(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)(")')


class CapturedTree:
    """Saved bodies, byte by byte. Only Timestamps move: the newest of an answer is now, the others keep their distance.

    A tree that has no root or no collection of reports gets them: without, no client finds what it has.
    """

    start, names = None, ()

    def __init__(self, folder):
        self._folder = os.path.realpath(folder)
        if not os.path.isdir(self._folder + ROOT):
            raise FileNotFoundError("%s: no folder %s in it" % (folder, ROOT[1:]))

    def get(self, uri, clock, query=""):
        """The body of a GET, or None. `query` chooses the body that was saved with it."""
        path = os.path.realpath(self._folder + uri)
        name = "index.%s.json" % query if query else "index.json"
        if path != self._folder + uri or "/" in query:
            return None  # the request names a path with dots
        try:
            with open(os.path.join(path, name), "rb") as file:
                return self._moved(file.read(), clock)
        except FileNotFoundError:
            return None if query else self._stand_in(uri)

    def _stand_in(self, uri):
        reports = self._folder + REPORTS
        if uri == ROOT:
            return json.dumps({"@odata.id": ROOT, "@odata.type": "#ServiceRoot.v1_15_0.ServiceRoot",
                               "Id": "RootService", "Name": "Root Service", "RedfishVersion": "1.15.0",
                               "TelemetryService": link(ROOT + "/TelemetryService"),
                               "Links": {"Sessions": link(ROOT + "/SessionService/Sessions")}}).encode()
        if uri == ROOT + "/TelemetryService":
            return json.dumps({**Machine.resource(uri, "#TelemetryService.v1_2_1.TelemetryService"),
                               "MetricReports": link(REPORTS)}).encode()
        if uri == REPORTS and os.path.isdir(reports):
            return json.dumps({"@odata.id": uri, "@odata.type": "#MetricReportCollection.MetricReportCollection",
                               "Name": "Metric Reports", "Members": [link("%s/%s" % (uri, name)) for name in
                                                                     sorted(os.listdir(reports))]}).encode()
        return None

    @staticmethod
    def _moved(body, clock):
        def local(match):
            return datetime.datetime.fromisoformat(match[2].decode())

        def offset(match):
            text = match[4].decode().replace("Z", "+0000").replace(":", "")
            return (1 if text[0] == "+" else -1) * datetime.timedelta(hours=int(text[1:3]), minutes=int(text[3:5]))

        def fraction(match):
            return datetime.timedelta(seconds=float((match[3] or b"0").decode()))

        stamps = list(STAMP.finditer(body))
        if not stamps:
            return body
        newest = max(local(match) + fraction(match) - offset(match) for match in stamps)
        by = clock.now().replace(tzinfo=None) - newest

        def move(match):
            moved = local(match) + fraction(match) + by
            digits = len(match[3] or b"") - 1
            text = moved.strftime("%Y-%m-%dT%H:%M:%S") + (".%06d" % moved.microsecond)[:digits + 1] * (digits > 0)
            return match[1] + text.encode() + match[4] + match[5]
        return STAMP.sub(move, body)
