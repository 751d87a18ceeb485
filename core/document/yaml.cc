#include "core/document/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"

namespace assay::document {
namespace {

// Length of the UTF-8 sequence at the front of `text`; 0 where there is none (RFC 3629: shortest
// forms only, no surrogates, at most U+10FFFF).
size_t Utf8Length(absl::string_view text) {
  auto byte = [&](size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  unsigned lead = byte(0);
  size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

// Refuses what the parser would misread or not notice.
absl::Status CheckCharacters(absl::string_view text, absl::string_view file_name) {
  Position position{1, 1};
  bool indentation = true;
  Position tab;  // in the indentation of this line
  while (!text.empty()) {
    size_t length = Utf8Length(text);
    if (length == 0) return ErrorAt(file_name, position, "document.not_utf8");
    char c = text[0];
    bool control =
        (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
    if (control) return ErrorAt(file_name, position, "document.control_character");
    if (c == '\n') {
      position = {position.line + 1, 1};
      indentation = true;
      tab = {};
    } else {
      if (indentation && c == '\t' && tab.line == 0) tab = position;
      if (c != ' ' && c != '\t' && c != '\r') {
        // Before a comment a tab does no harm.
        if (indentation && tab.line != 0 && c != '#') {
          return ErrorAt(file_name, tab, "document.tab");
        }
        indentation = false;
      }
      ++position.column;
    }
    text.remove_prefix(length);
  }
  return absl::OkStatus();
}

// Thrown through yaml-cpp's parser, which has no other way to be stopped; caught in ParseYaml.
struct Stop {
  Position position;
  const char* id;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(absl::string_view text) {
    lines_.push_back(text);
    for (size_t end = text.find('\n'); end != absl::string_view::npos; end = text.find('\n')) {
      text.remove_prefix(end + 1);
      lines_.push_back(text);
    }
  }

  // yaml-cpp counts columns in bytes from 0.
  Position At(const YAML::Mark& mark) {
    if (mark.line < 0 || mark.column < 0) return {1, 1};
    Position position{mark.line + 1, mark.column + 1};
    if (static_cast<size_t>(mark.line) < lines_.size()) {
      // Marks mostly come in order: counting on from the last one keeps long lines linear.
      if (mark.line != counted_.line || mark.column < counted_.column) {
        counted_.line = mark.line;
        counted_.column = counted_.continuations = 0;
      }
      absl::string_view between = lines_[mark.line].substr(0, mark.column);
      between.remove_prefix(std::min<size_t>(counted_.column, between.size()));
      auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
      counted_.continuations +=
          static_cast<int>(std::count_if(between.begin(), between.end(), continues));
      counted_.column = mark.column;
      position.column -= counted_.continuations;
    }
    return position;
  }

  std::vector<YamlPtr> TakeDocuments() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // At a token that begins no value, such as a stray "]", yaml-cpp finds empty documents for
    // ever.
    if (mark.pos == document_start_) throw Stop{At(mark), "document.unexpected"};
    document_start_ = mark.pos;
    open_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto node = std::make_shared<YamlNode>();
    node->position = At(mark);
    Add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchors_.find(anchor);
    // An anchor is known once its node is complete: one inside itself is a cycle.
    if (found == anchors_.end()) throw Stop{At(mark), "document.alias_in_itself"};
    // The copy shares its children, and stands where it is used.
    auto node = std::make_shared<YamlNode>(*found->second);
    node->position = At(mark);
    Add(std::move(node), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto node = std::make_shared<YamlNode>();
    node->kind = YamlNode::Kind::kScalar;
    node->position = At(mark);
    node->text = value;
    node->quoted = tag == "!";
    RefuseTag(tag, node->position);
    if (node->quoted && !IsClosed(mark)) throw Stop{node->position, "document.open_quote"};
    Add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  // Whether the quoted scalar at `mark` has its closing quote: yaml-cpp takes the end of the file
  // for one.
  bool IsClosed(const YAML::Mark& mark) const {
    if (mark.line < 0 || static_cast<size_t>(mark.line) >= lines_.size()) return true;
    absl::string_view text = lines_[mark.line];
    text.remove_prefix(std::min<size_t>(std::max(mark.column, 0), text.size()));
    if (text.empty() || (text[0] != '\'' && text[0] != '"')) return true;  // a block
    const char quote = text[0];
    for (size_t i = 1; i < text.size(); ++i) {
      if (quote == '"' && text[i] == '\\') {
        ++i;
      } else if (text[i] == quote) {
        bool doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
        if (!doubled) return true;
        ++i;
      }
    }
    return false;
  }

  struct OpenNode {
    std::shared_ptr<YamlNode> node;
    YAML::anchor_t anchor;
    YamlPtr key;  // of a map, where its value comes next
  };

  static void RefuseTag(const std::string& tag, Position position) {
    if (!tag.empty() && tag != "?" && tag != "!") throw Stop{position, "document.tag"};
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->position = At(mark);
    RefuseTag(tag, node->position);
    if (open_.size() >= kDeepest) throw Stop{node->position, "document.too_deep"};
    open_.push_back({std::move(node), anchor, nullptr});
  }

  void Close() {
    OpenNode closed = std::move(open_.back());
    open_.pop_back();
    Add(std::move(closed.node), closed.anchor);
  }

  // Gives a complete node to the one that is open.
  void Add(std::shared_ptr<YamlNode> node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      if (node->kind != YamlNode::Kind::kNull) documents_.push_back(std::move(node));
      return;
    }
    OpenNode& parent = open_.back();
    YamlNode& into = *parent.node;
    into.size += node->size;
    into.depth = std::max(into.depth, node->depth + 1);
    // Nodes that are complete, and one for each that is open: aliases can multiply the former only.
    if (into.size > kMostNodes) throw Stop{node->position, "document.too_many_nodes"};
    if (into.depth > kDeepest) throw Stop{node->position, "document.too_deep"};
    if (into.kind == YamlNode::Kind::kList) {
      into.items.push_back(std::move(node));
    } else if (parent.key == nullptr) {
      if (node->kind != YamlNode::Kind::kScalar) throw Stop{node->position, "document.bad_key"};
      parent.key = std::move(node);
    } else {
      // An empty value's mark is that of what follows: its key is where to look.
      if (node->kind == YamlNode::Kind::kNull) node->position = parent.key->position;
      into.entries.push_back({parent.key->text, parent.key->position, std::move(node)});
      parent.key = nullptr;
    }
  }

  std::vector<absl::string_view> lines_;  // each with what follows it
  struct {
    int line = -1;
    int column = 0;         // up to which continuation bytes are counted
    int continuations = 0;  // UTF-8 bytes that are not the first of their character
  } counted_;
  int document_start_ = -1;
  std::vector<OpenNode> open_;
  std::map<YAML::anchor_t, YamlPtr> anchors_;
  std::vector<YamlPtr> documents_;
};

}  // namespace

absl::StatusOr<std::vector<YamlPtr>> ParseYaml(absl::string_view text,
                                               absl::string_view file_name) {
  if (text.size() > kMostBytes) {
    return ErrorAt(file_name, {1, 1}, "document.too_large", {{"most", "1 MiB"}});
  }
  text = absl::StripPrefix(text, "\xef\xbb\xbf");  // byte order mark
  ASSAY_RETURN_IF_ERROR(CheckCharacters(text, file_name));
  TreeBuilder builder(text);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    return ErrorAt(file_name, stop.position, stop.id);
  } catch (const YAML::Exception& e) {
    return ErrorAt(file_name, builder.At(e.mark), "document.syntax", {{"detail", e.msg}});
  } catch (const std::exception& e) {
    return ErrorAt(file_name, {1, 1}, "document.syntax", {{"detail", e.what()}});
  }
  return builder.TakeDocuments();
}

}  // namespace assay::document
