import { decodeHeader, decodeText, encodedWord } from "./charsets.ts";

/** More than a header line may have (RFC 5322, section 2.1.1). */
const HEADER_LENGTH = 4000;
/** A quoted text, an encoded word, a comment, an address in brackets, or a sign between addresses. */
const token = new RegExp(
  String.raw`"(?:[^"\\]|\\.)*"|${encodedWord.source}|\((?:[^()\\]|\\.)*\)|<[^<>]*>?|[:;,]|(?:(?!=\?)[^"(<:;,])+|.`,
  "gis",
);

/**
 * Returns the first address of a `From` header with the name before it, as `Ada <ada@example.com>`.
 * The name may have commas, brackets and other addresses; the name of a group is that of its first
 * member. Without an address it is the text of the header.
 *
 * @param header - Its characters are its bytes.
 */
export function senderIn(header: string, mailCharset = ""): string {
  const headerText = header.slice(0, HEADER_LENGTH).replace(/&lt;(?=[^&]{1,300}&gt;)/g, "<");
  const tokens = Array.from(headerText.replaceAll("&gt;", ">").matchAll(token), ([text]) => text);
  const { address: bytes, name, group } = firstAddress(tokens);
  const address = decodeText(Buffer.from(bytes, "latin1"), "", mailCharset);
  const senderName = toName(name, mailCharset) || toName(group, mailCharset);
  if (address === "") return pipermailSender(senderName);
  return senderName === "" || senderName === address ? address : `${senderName} <${address}>`;
}

function firstAddress(tokens: readonly string[]) {
  let [name, group]: [string[], string[]] = [[], []];
  for (const [at, text] of tokens.entries()) {
    const [first] = text;
    if (first === ":") [group, name] = [[...group, ...name], []];
    else if (first === "<" && text.includes("@") && tokens[at + 1] !== ":")
      return { address: addressIn(text), name, group };
    else if (!/^["(<=]./s.test(text) && addressWord(text) !== "" && !isNameBefore(tokens, at)) {
      const address = addressWord(text);
      const comment = tokens.slice(at + 1).find((next) => next.trim() !== "") ?? "";
      const words = [...name, text.slice(0, text.indexOf(address))];
      const isNamed = words.some((word) => /\w/.test(word)) || !comment.startsWith("(");
      return { address, name: isNamed ? words : [comment.slice(1, -1)], group };
    } else name.push(text);
  }
  // No address is outside of names, so it is the one in them.
  const all = tokens.join("");
  const address = addressWord(all);
  return address === ""
    ? { address, name: [all.replace(/<>/g, "")], group: [] }
    : { address, name: [], group: [] };
}

// In `ceo@bank.example <eve@example.com>` the first is the name of the second.
function isNameBefore(tokens: readonly string[], at: number): boolean {
  const rest = tokens.slice(at + 1);
  const end = rest.findIndex((text) => /^[:;,]$/.test(text));
  const words = end === -1 ? rest : rest.slice(0, end);
  return words.some((text) => text.startsWith("<") && text.includes("@"));
}

function addressIn(brackets: string): string {
  const inside = brackets
    .slice(1)
    .replace(/>$/, "")
    .trim()
    .replace(/^mailto:([^?]*).*$/is, "$1")
    .replace(/^'(.*)'$/s, "$1");
  const compact = inside
    .replace(/^@[^:]*:/, "")
    .split("@")
    .map((part) => part.trim())
    .join("@");
  return compact.startsWith('"') ? compact : addressWord(compact) || compact;
}

/** Returns the first address in a text without quotes; empty if it has none. */
function addressWord(text: string): string {
  const words = text.split(/[\s<>,;:"()[\]]/);
  return words.find((word) => word.indexOf("@", 1) > 0 && !word.endsWith("@")) ?? "";
}

function toName(tokens: readonly string[], mailCharset: string): string {
  const words = tokens.map((text) =>
    /^".*"$/s.test(text) ? text.slice(1, -1).replace(/\\(.)/gs, "$1") : text,
  );
  const name = decodeHeader(words.join(""), mailCharset)
    .replace(/^[\s,;]+|(?<![\s,;:<])[\s,;:<]+$/g, "")
    .replace(/(?<!\s)\s{0,20}\[(?:mailto|smtp)?$/i, "");
  return /^mailto$/i.test(name) ? "" : name;
}

/** Returns a sender of a list's archive, `ada at example.com (Ada)`, as in a mail; others unchanged. */
function pipermailSender(text: string): string {
  const [, user, domain, name] =
    /^(\S{1,200}) at (\S{1,255}\.\S{1,100})(?: \((.*)\))?$/.exec(text) ?? [];
  if (user === undefined) return text;
  return name === undefined ? `${user}@${domain}` : `${name} <${user}@${domain}>`;
}
