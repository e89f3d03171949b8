// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_interconnect.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace sideband::mcu {

void HpcInterconnect::Send(size_t client, const HpcRequest& request, uint64_t cycle) {
  const auto [port, added] = ports_.try_emplace(request.manager);
  if (added) port->second.last_granted = clients_ - 1;
  port->second.queue.push_back({client, request, cycle + timing_.hop_cycles});
  asked_.insert(request.manager);
  FindNextGrant();
}

uint64_t HpcInterconnect::NextGrantOf(const Port& port) {
  const auto first = std::min_element(port.queue.begin(), port.queue.end(),
                                      [](const Queued& a, const Queued& b) { return a.arrival < b.arrival; });
  return std::max(port.free_at, first->arrival);
}

void HpcInterconnect::FindNextGrant() {
  next_grant_ = kNoCycle;
  for (const HpcManagerId& manager : asked_) {
    const uint64_t grant = NextGrantOf(ports_.at(manager));
    if (grant >= next_grant_) continue;
    next_grant_ = grant;
    next_manager_ = manager;
  }
}

// The first client after the last granted whose request has arrived; its oldest request.
std::vector<HpcInterconnect::Queued>::iterator HpcInterconnect::NextInRotation(Port& port, uint64_t cycle) const {
  const auto distance = [&](const Queued& queued) {
    if (queued.arrival > cycle) return clients_;
    return (queued.client + clients_ - port.last_granted - 1) % clients_;
  };
  return std::min_element(port.queue.begin(), port.queue.end(),
                          [&](const Queued& a, const Queued& b) { return distance(a) < distance(b); });
}

HpcGrant HpcInterconnect::Grant() {
  Port& port = ports_.at(next_manager_);
  const auto next = NextInRotation(port, next_grant_);
  const HpcGrant grant{.client = next->client, .request = next->request, .cycle = next_grant_};
  port.queue.erase(next);
  port.last_granted = grant.client;
  const uint64_t values = std::popcount(grant.request.bitmap);
  port.free_at = grant.cycle + std::max<uint64_t>(1, values * timing_.lookup_cycles);
  granted_[grant.client][grant.request.tag] = next_manager_;
  if (port.queue.empty()) asked_.erase(next_manager_);
  FindNextGrant();
  return grant;
}

void HpcInterconnect::Withdraw(size_t client, uint64_t cycle) {
  for (auto manager = asked_.begin(); manager != asked_.end();) {
    std::vector<Queued>& queue = ports_.at(*manager).queue;
    std::erase_if(queue, [client](const Queued& queued) { return queued.client == client; });
    manager = queue.empty() ? asked_.erase(manager) : std::next(manager);
  }
  // The answer under way of each tag is that of its newest grant.
  for (const HpcManagerId& manager : granted_[client]) {
    const auto port = ports_.find(manager);
    if (port == ports_.end() || port->second.last_granted != client) continue;
    port->second.free_at = std::min(port->second.free_at, cycle);
  }
  FindNextGrant();
}

HpcAnswer AnswerOf(const HpcRequest& request, uint64_t grant_cycle, const HpcTiming& timing, const HpcLatch& latch) {
  std::vector<uint16_t> events;
  for (uint64_t rest = request.bitmap; rest != 0; rest &= rest - 1) {
    events.push_back(static_cast<uint16_t>(hpc::kCountersPerManager * request.manager.extend + std::countr_zero(rest)));
  }
  HpcAnswer answer{.tag = request.tag,
                   .bitmap = request.bitmap,
                   .values = std::vector<uint64_t>(events.size()),
                   .stamp_cycle = grant_cycle + timing.hop_cycles,
                   .first_cycle = grant_cycle + timing.lookup_cycles + timing.hop_cycles,
                   .interval = timing.lookup_cycles};
  if (request.stamp) answer.stamp = grant_cycle;
  if (!events.empty()) latch(events, answer.values);
  return answer;
}

}  // namespace sideband::mcu
