#include "source.h"

#include <algorithm>

namespace latticec {

Source::Source(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

Source::Position Source::position(size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<size_t>(after - line_starts_.begin());
  return {line, offset - line_starts_[line - 1] + 1};
}

std::string_view Source::line(size_t number) const {
  const size_t begin = line_starts_[number - 1];
  const size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  std::string_view line = std::string_view(text_).substr(begin, end - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

namespace {

// What a terminal would act on becomes a question mark.
std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7F) c = '?';
  }
  return out;
}

}  // namespace

void Report::error(const Place& place, const std::string& what, const std::string& hint) {
  constexpr size_t kMostColumns = 160;
  if (count_++ >= kMostErrors) return;
  const Source& source = *place.source;
  const Source::Position at = source.position(place.offset);
  std::string text = source.path() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                     ": error: " + printable(what) + "\n";
  const std::string number = std::to_string(at.line);
  const std::string indent(number.size() < 5 ? 5 - number.size() : 0, ' ');
  const std::string_view line = source.line(at.line);
  if (at.column <= kMostColumns) {
    text += indent + number + " | " + printable(line.substr(0, kMostColumns)) + "\n";
    std::string marks;
    for (const char c : line.substr(0, std::min(at.column - 1, line.size()))) marks += c == '\t' ? '\t' : ' ';
    const size_t room = line.size() > at.column ? line.size() - at.column : 0;
    marks += "^" + std::string(std::min({place.length > 0 ? place.length - 1 : 0, room, kMostColumns}), '~');
    text += std::string(indent.size() + number.size(), ' ') + " | " + marks + "\n";
  }
  if (!hint.empty()) text += std::string(indent.size() + number.size(), ' ') + " = " + printable(hint) + "\n";
  entries_.push_back({place.source, place.offset, std::move(text)});
}

void Report::error(const std::string& what) {
  if (count_++ < kMostErrors) entries_.push_back({nullptr, 0, "error: " + printable(what) + "\n"});
}

std::string Report::text() const {
  std::vector<const Source*> sources;
  for (const Entry& entry : entries_) {
    if (std::ranges::find(sources, entry.source) == sources.end()) sources.push_back(entry.source);
  }
  std::vector<Entry> sorted = entries_;
  std::ranges::stable_sort(sorted, [&](const Entry& a, const Entry& b) {
    const auto of_a = std::ranges::find(sources, a.source), of_b = std::ranges::find(sources, b.source);
    return of_a != of_b ? of_a < of_b : a.offset < b.offset;
  });
  std::string out;
  for (const Entry& entry : sorted) out += entry.text;
  if (count_ >= kMostErrors) out += "error: so many that the rest was not looked at\n";
  return out;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  if (given.size() > 64) return "";
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, given.size() / 3) + 1;
  for (const std::string& name : known) {
    if (name.size() > 64) continue;
    std::vector<size_t> row(name.size() + 1);  // edit distances (Levenshtein) to the beginnings of `name`
    for (size_t k = 0; k <= name.size(); ++k) row[k] = k;
    for (size_t i = 1; i <= given.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t k = 1; k <= name.size(); ++k) {
        const size_t substituted = diagonal + (given[i - 1] == name[k - 1] ? 0 : 1);
        diagonal = row[k];
        row[k] = std::min({substituted, row[k] + 1, row[k - 1] + 1});
      }
    }
    if (row[name.size()] < best_distance) best_distance = row[name.size()], best = &name;
  }
  return best == nullptr ? "" : "did you mean '" + *best + "'?";
}

}  // namespace latticec
