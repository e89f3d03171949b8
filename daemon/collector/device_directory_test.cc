// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace sideband::daemon {
namespace {

struct Served {
  std::function<void()> call;
};

TEST(DeviceDirectoryTest, LeadsToTheDevicesThatAreServed) {
  DeviceDirectory<Served> devices;
  Served served;
  EXPECT_FALSE(devices.Use(3));
  devices.Add(3, served);
  EXPECT_EQ(devices.Use(3).operator->(), &served);
  EXPECT_FALSE(devices.Use(4));
  devices.Remove(3);
  devices.Remove(3);
  EXPECT_FALSE(devices.Use(3));
}

// What is called may use the directory itself.
TEST(DeviceDirectoryTest, HoldsNoLockWhileADeviceIsUsed) {
  DeviceDirectory<Served> devices;
  Served other, served{[&] {
    devices.Add(4, other);
    devices.Remove(4);
  }};
  devices.Add(3, served);
  devices.Use(3)->call();
}

TEST(DeviceDirectoryTest, ADeviceStaysWhileItIsUsed) {
  DeviceDirectory<Served> devices;
  absl::Notification used, goes_on;
  std::atomic<bool> has_ended = false;
  Served served{[&] {
    used.Notify();
    goes_on.WaitForNotification();
    has_ended = true;
  }};
  devices.Add(3, served);
  std::thread user([&] { devices.Use(3)->call(); });
  used.WaitForNotification();
  std::thread remover([&] {
    devices.Remove(3);
    EXPECT_TRUE(has_ended);
  });
  while (devices.Use(3)) std::this_thread::yield();
  EXPECT_FALSE(has_ended);
  goes_on.Notify();
  user.join();
  remover.join();
}

}  // namespace
}  // namespace sideband::daemon
