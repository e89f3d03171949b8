// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/capacity_family.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/snapshot/capacities.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {
namespace {

bool SeesSlice(const View& view, const mailbox::Catalog& catalog, uint8_t slice) {
  return view.sees_device_row() || std::ranges::any_of(catalog.vms, [&](const mailbox::VmInfo& vm) {
           return vm.slice == slice && view.SeesVm(vm.id);
         });
}

// The places of the slices, in the catalogue's order, that the caller sees.
std::vector<size_t> VisiblePlaces(const View& view) {
  const mailbox::Catalog& catalog = view.topology()->catalog();
  std::vector<size_t> places;
  for (size_t place = 0; place < catalog.slices.size(); ++place) {
    if (SeesSlice(view, catalog, catalog.slices[place].id)) places.push_back(place);
  }
  return places;
}

class Writer {
 public:
  Writer(absl::string_view name, const DeviceFrame& frame, TextBuffer& out)
      : name_(name), frame_(frame), catalog_(frame.device().view->topology()->catalog()), out_(out) {}

  void Write(size_t event, const std::vector<size_t>& places) {
    const Capacities& capacities = frame_.device().view->topology()->capacities();
    if (catalog_.events[event].scope == mailbox::EventScope::kDevice) {
      return WriteSample(frame_.labels().device(), event, capacities.OfDevice(event));
    }
    for (const size_t place : places) {
      std::string labels = frame_.labels().device();
      AppendLabel(labels, "slice", absl::StrCat(catalog_.slices[place].id));
      WriteSample(std::move(labels), event, capacities.OfSlice(event, place));
    }
  }

 private:
  void WriteSample(std::string labels, size_t event, double capacity) {
    if (capacity == 0) return;  // unknown, or not counted there
    AppendLabel(labels, "event", catalog_.events[event].name);
    AppendSample(out_, name_, labels, NumberText(capacity));
  }

  const absl::string_view name_;
  const DeviceFrame& frame_;
  const mailbox::Catalog& catalog_;
  TextBuffer& out_;
};

}  // namespace

void WriteEventCapacity(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (!frame.is_fresh()) return;
  const View& view = *frame.device().view;
  const std::vector<size_t> places = VisiblePlaces(view);
  Writer writer(name, frame, out);
  for (size_t event = 0; event < view.AllEvents().size(); ++event) {
    if (frame.ShowsEvent(event)) writer.Write(event, places);
  }
}

}  // namespace sideband::daemon
