// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sensor_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sideband::client {
namespace {

using testing::HasSubstr;

v1::Sensor& Add(const std::string& name, double value, v1::DeviceSensors& device) {
  v1::Sensor& sensor = *device.add_sensors();
  sensor.set_name(name);
  sensor.set_value(value);
  return sensor;
}

void Label(const std::string& name, const std::string& value, v1::Sensor& sensor) {
  v1::SensorLabel& label = *sensor.add_labels();
  label.set_name(name);
  label.set_value(value);
}

TEST(SensorTextTest, ValuesHaveTheUnitOfTheirName) {
  v1::GetSensorsResponse response;
  v1::DeviceSensors& device = *response.add_devices();
  device.set_device("gpu0");
  Label("sensor", "memory", Add("sideband_temperature_celsius", 61.25, device));
  Add("sideband_power_watts", 412.345, device);
  Add("sideband_clock_hertz", 1.4e9, device);
  Add("sideband_board_sm_activity_ratio", 0.372, device);
  Add("sideband_pcie_link_width", 16, device);
  Add("sideband_memory_bytes", 85'899'345'920, device);
  v1::Sensor& bytes = Add("sideband_nvlink_data_bytes_total", 5e9, device);
  bytes.set_count(5'000'000'000);
  bytes.set_count_per_unit(1);
  v1::Sensor& errors = Add("sideband_ecc_errors_total", 12'345, device);
  errors.set_count(12'345);
  errors.set_count_per_unit(1);
  v1::Sensor& energy = Add("sideband_energy_joules_total", 1500, device);
  energy.set_count(1'500'000);
  energy.set_count_per_unit(1000);
  EXPECT_EQ(SensorsTable(response, {.cut = false}),
            "DEVICE  SENSOR             OF                 VALUE\n"
            "gpu0    temperature        sensor=memory    61.2 °C\n"
            "gpu0    power              -                412.3 W\n"
            "gpu0    clock              -               1.40 GHz\n"
            "gpu0    board_sm_activity  -                 37.2 %\n"
            "gpu0    pcie_link_width    -                     16\n"
            "gpu0    memory             -              80.00 GiB\n"
            "gpu0    nvlink_data        -                5.00 GB\n"
            "gpu0    ecc_errors         -                 12,345\n"
            "gpu0    energy             -                1.50 kJ\n");
}

TEST(SensorTextTest, AnIdentityHasARowForEachItem) {
  v1::GetSensorsResponse response;
  v1::DeviceSensors& device = *response.add_devices();
  device.set_device("gpu0");
  v1::Sensor& info = Add("sideband_board_info", 1, device);
  Label("name", "Side\x1b[31m", info);
  Label("serial", "17", info);
  const std::string table = SensorsTable(response, {.cut = false});
  EXPECT_THAT(table, HasSubstr("gpu0    board   name    Side\\x1b[31m\n"));
  EXPECT_THAT(table, HasSubstr("gpu0    board   serial            17\n"));
}

TEST(SensorTextTest, ANameIsListedOnce) {
  v1::ListSensorsResponse response;
  for (const char* name : {"gpu0", "gpu1"}) {
    auto& device = *response.add_devices();
    device.set_device(name);
    v1::SensorDescription& sensor = *device.add_sensors();
    sensor.set_name("sideband_power_watts");
    sensor.set_group("power");
    sensor.set_description("Power that the board uses.");
  }
  EXPECT_EQ(SensorNamesTable(response, {.cut = false}),
            "NAME                  GROUP  DESCRIPTION\n"
            "sideband_power_watts  power  Power that the board uses.\n");
}

TEST(SensorTextTest, EventsAreLines) {
  v1::WatchBoardEventsResponse event;
  event.set_device("gpu0");
  v1::DriverMessage& message = *event.mutable_driver_message();
  message.set_xid(63);
  message.set_sequence(7);
  message.mutable_time()->set_seconds(1'700'000'000);
  message.set_text("Row\nremap");
  message.set_later_lost(true);
  EXPECT_EQ(BoardEventLine(event),
            "gpu0: xid 63, number 7, 2023-11-14T22:13:20.000Z: Row\\x0aremap (the board has lost messages after it)\n");
  event.mutable_raised()->set_name("warm_restart");
  event.mutable_raised()->set_count(1);
  EXPECT_EQ(BoardEventLine(event), "gpu0: warm_restart\n");
  event.mutable_raised()->set_count(3);
  EXPECT_EQ(BoardEventLine(event), "gpu0: warm_restart, 3 times\n");
  event.set_messages_lost(9);
  EXPECT_EQ(BoardEventLine(event), "gpu0: 9 messages of the driver were lost\n");
  event.set_messages_lost(1);
  EXPECT_EQ(BoardEventLine(event), "gpu0: 1 message of the driver was lost\n");
  event.set_sync_response(true);
  EXPECT_EQ(BoardEventLine(event), "");
}

TEST(SensorTextTest, ShortNamesHaveNeitherPrefixNorUnit) {
  EXPECT_EQ(SensorShortName("sideband_power_watts"), "power");
  EXPECT_EQ(SensorShortName("sideband_energy_joules_total"), "energy");
  EXPECT_EQ(SensorShortName("sideband_pcie_replays_total"), "pcie_replays");
  EXPECT_EQ(SensorShortName("sideband_board_info"), "board");
  EXPECT_EQ(SensorShortName("else"), "else");
}

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;  // 2023-11-14T22:13:20Z
constexpr int64_t kSecondNs = 1'000'000'000;

v1::SensorColumn& Add(const std::string& name, v1::DeviceSensorHistory& device) {
  v1::SensorColumn& column = *device.add_columns();
  column.set_name(name);
  column.set_group("power");
  v1::SensorLabel& label = *column.add_labels();
  label.set_name("sensor");
  label.set_value("total");
  return column;
}

// A power with a hole, and an energy that begins again.
v1::GetSensorHistoryResponse Response() {
  v1::GetSensorHistoryResponse response;
  response.mutable_step()->set_seconds(1);
  v1::DeviceSensorHistory& device = *response.add_devices();
  device.set_device("gpu0");
  device.mutable_oldest()->set_seconds(kStartNs / kSecondNs - 60);
  v1::SensorColumn& energy = Add("sideband_energy_joules_total", device);
  energy.set_count_per_unit(1000);
  energy.mutable_created()->set_seconds(1'600'000'000);
  for (const uint64_t count : {1'000, 251'500}) energy.add_counts(count);
  v1::SensorColumn& again = Add("sideband_energy_joules_total", device);
  again.set_count_per_unit(1000);
  again.mutable_created()->set_seconds(kStartNs / kSecondNs + 2);
  again.add_counts(500);
  for (const int second : {0, 1}) energy.add_host_times_ns(kStartNs + second * kSecondNs);
  again.add_host_times_ns(kStartNs + 2 * kSecondNs);
  v1::SensorColumn& power = Add("sideband_power_watts", device);
  for (const int second : {0, 2}) {
    power.add_host_times_ns(kStartNs + second * kSecondNs);
    power.add_values(250.25 + second);
  }
  return response;
}

TEST(SensorHistoryTextTest, ATableHasARowPerValue) {
  EXPECT_EQ(SensorHistoryTables(Response(), {.cut = false}),
            "gpu0  5 values  2023-11-14T22:13:20.000Z to 2023-11-14T22:13:22.000Z  step 1s\n"
            "  history since 2023-11-14T22:12:20.000Z\n"
            "TIME           SENSOR  OF               VALUE      RATE  NOTES\n"
            "22:13:20.000Z  energy  sensor=total    1.00 J         -  -\n"
            "22:13:21.000Z  energy  sensor=total  251.50 J  250.50 W  -\n"
            "22:13:22.000Z  energy  sensor=total    0.50 J         -  restarted\n"
            "22:13:20.000Z  power   sensor=total   250.2 W         -  -\n"
            "22:13:22.000Z  power   sensor=total   252.2 W         -  -\n");
}

TEST(SensorHistoryTextTest, WithoutValuesThereIsALine) {
  v1::GetSensorHistoryResponse response;
  v1::DeviceSensorHistory& device = *response.add_devices();
  device.set_device("gpu\x1b");
  device.mutable_oldest()->set_seconds(1'700'000'000);
  EXPECT_EQ(SensorHistoryTables(response, {}), "gpu\\x1b  0 values  history since 2023-11-14T22:13:20.000Z\n");
  EXPECT_EQ(SensorHistoryTables({}, {}), "");
}

TEST(SensorHistoryTextTest, CsvHasExactCounts) {
  const std::string csv = SensorHistoryCsv(Response());
  EXPECT_THAT(csv, HasSubstr("device,host_time,name,labels,group,value,count,count_per_unit,created,rate_per_second,"
                             "restarted\r\n"));
  EXPECT_THAT(csv,
              HasSubstr("gpu0,2023-11-14T22:13:21.000Z,sideband_energy_joules_total,sensor=total,power,251.5,251500,"
                        "1000,2020-09-13T12:26:40.000Z,250.5,no\r\n"));
  EXPECT_THAT(csv, HasSubstr("sideband_energy_joules_total,sensor=total,power,0.5,500,1000,2023-11-14T22:13:22.000Z,,"
                             "yes\r\n"));
  EXPECT_THAT(csv,
              HasSubstr("gpu0,2023-11-14T22:13:20.000Z,sideband_power_watts,sensor=total,power,250.25,,,,,no\r\n"));
}

TEST(SensorHistoryTextTest, JsonHasRates) {
  const auto json = nlohmann::json::parse(SensorHistoryJson(Response()));
  const auto& columns = json["devices"][0]["columns"];
  EXPECT_EQ(columns[0]["counts"], nlohmann::json({"1000", "251500"}));
  EXPECT_EQ(columns[0]["rates_per_second"], nlohmann::json({nullptr, 250.5}));
  EXPECT_EQ(columns[1]["rates_per_second"], nlohmann::json::array({nullptr}));
  EXPECT_FALSE(columns[2].contains("rates_per_second"));
  EXPECT_EQ(columns[2]["host_times_ns"][0], "1700000000000000000");
  EXPECT_EQ(columns[2]["values"], nlohmann::json({250.25, 252.25}));
}

TEST(SensorHistoryTextTest, AMalformedResponseIsShownAsFarAsItIsWhole) {
  v1::GetSensorHistoryResponse response = Response();
  v1::SensorColumn& energy = *response.mutable_devices(0)->mutable_columns(0);
  energy.clear_counts();
  energy.set_count_per_unit(0);
  response.mutable_devices(0)->mutable_columns(2)->add_values(7);
  EXPECT_THAT(SensorHistoryTables(response, {}), HasSubstr("gpu0  3 values"));
  EXPECT_THAT(SensorHistoryCsv(response), testing::Not(HasSubstr("251500")));
}

}  // namespace

}  // namespace sideband::client
