// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/dword_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace sideband::daemon {
namespace {

struct Item {
  size_t size;
  std::vector<uint32_t> dwords;
  std::function<void(const std::vector<uint32_t>&)> take;
};

}  // namespace

std::vector<mailbox::CommandWord> ScratchReads(uint8_t first, uint8_t count) {
  std::vector<mailbox::CommandWord> words;
  for (uint8_t i = 0; i < count; ++i) {
    words.push_back(BoardCommand(mailbox::Opcode::kScratchRead, static_cast<uint8_t>(first + i)));
  }
  return words;
}

void AddDwords(GroupRound& round, const std::vector<mailbox::CommandWord>& words,
               std::function<void(const std::vector<uint32_t>&)> take) {
  const auto is_refused = [&round](const mailbox::CommandWord& word) { return round.IsRefused(word, std::nullopt); };
  if (std::ranges::any_of(words, is_refused)) return;
  // Shared by the commands of the item: the last one hands it over.
  const auto item = std::make_shared<Item>(Item{words.size(), {}, std::move(take)});
  for (const mailbox::CommandWord& word : words) {
    round.Add({.word = word, .outputs = {.data = true}, .take = [item](const BoardReply& reply) {
                 item->dwords.push_back(reply.data);
                 if (item->dwords.size() == item->size) item->take(item->dwords);
               }});
  }
}

Bytes BytesOf(const std::vector<uint32_t>& dwords) {
  ByteWriter out;
  for (const uint32_t dword : dwords) out.U32(dword);
  return std::move(out).Take();
}

}  // namespace sideband::daemon
