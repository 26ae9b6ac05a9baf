import { decodeHeader, decodeText, encodedWord } from "./charsets.ts";

/** More than a header line may have (RFC 5322, section 2.1.1). */
const HEADER_LENGTH = 4000;
/** A quoted text, an encoded word, a comment, an address in brackets, or a sign between addresses. */
const tokenPattern = new RegExp(
  String.raw`"(?:[^"\\]|\\.)*"|${encodedWord.source}|\((?:[^()\\]|\\.)*\)|<[^<>]*>?|[:;,]|(?:(?!=\?)[^"(<:;,])+|.`,
  "gis",
);

/**
 * Returns the first address of a `From` header with the name before it, as `Ada <ada@example.com>`.
 * The name may have commas, brackets and other addresses; the name of a group is that of its first
 * member. Without an address it is the text of the header.
 *
 * @param rawHeader - Its characters are its bytes.
 */
export function senderIn(rawHeader: string, mailCharset = ""): string {
  const headerText = rawHeader.slice(0, HEADER_LENGTH).replace(/&lt;(?=[^&]{1,300}&gt;)/g, "<");
  const headerTokens = Array.from(
    headerText.replaceAll("&gt;", ">").matchAll(tokenPattern),
    ([tokenText]) => tokenText,
  );
  const { address: addressBytes, name, group } = firstAddress(headerTokens);
  const address = decodeText(Buffer.from(addressBytes, "latin1"), "", mailCharset);
  const senderName = toSenderName(name, mailCharset) || toSenderName(group, mailCharset);
  if (address === "") return pipermailSender(senderName);
  return senderName === "" || senderName === address ? address : `${senderName} <${address}>`;
}

function firstAddress(headerTokens: readonly string[]) {
  let [nameTokens, groupTokens]: [string[], string[]] = [[], []];
  for (const [tokenIndex, tokenText] of headerTokens.entries()) {
    const [firstCharacter] = tokenText;
    if (firstCharacter === ":") [groupTokens, nameTokens] = [[...groupTokens, ...nameTokens], []];
    else if (
      firstCharacter === "<" &&
      tokenText.includes("@") &&
      headerTokens[tokenIndex + 1] !== ":"
    )
      return { address: addressIn(tokenText), name: nameTokens, group: groupTokens };
    else if (
      !/^["(<=]./s.test(tokenText) &&
      addressWord(tokenText) !== "" &&
      !isNameBefore(headerTokens, tokenIndex)
    ) {
      const address = addressWord(tokenText);
      const comment =
        headerTokens.slice(tokenIndex + 1).find((nextToken) => nextToken.trim() !== "") ?? "";
      const nameWords = [...nameTokens, tokenText.slice(0, tokenText.indexOf(address))];
      const isNamed = nameWords.some((nameWord) => /\w/.test(nameWord)) || !comment.startsWith("(");
      return { address, name: isNamed ? nameWords : [comment.slice(1, -1)], group: groupTokens };
    } else nameTokens.push(tokenText);
  }
  // No address is outside of names, so it is the one in them.
  const wholeText = headerTokens.join("");
  const address = addressWord(wholeText);
  return address === ""
    ? { address, name: [wholeText.replace(/<>/g, "")], group: [] }
    : { address, name: [], group: [] };
}

// In `ceo@bank.example <eve@example.com>` the first is the name of the second.
function isNameBefore(headerTokens: readonly string[], tokenIndex: number): boolean {
  const laterTokens = headerTokens.slice(tokenIndex + 1);
  const groupEnd = laterTokens.findIndex((tokenText) => /^[:;,]$/.test(tokenText));
  const nameTokens = groupEnd === -1 ? laterTokens : laterTokens.slice(0, groupEnd);
  return nameTokens.some((tokenText) => tokenText.startsWith("<") && tokenText.includes("@"));
}

function addressIn(brackets: string): string {
  const addressText = brackets
    .slice(1)
    .replace(/>$/, "")
    .trim()
    .replace(/^mailto:([^?]*).*$/is, "$1")
    .replace(/^'(.*)'$/s, "$1");
  const compact = addressText
    .replace(/^@[^:]*:/, "")
    .split("@")
    .map((addressPart) => addressPart.trim())
    .join("@");
  return compact.startsWith('"') ? compact : addressWord(compact) || compact;
}

/** Returns the first address in a text without quotes; empty if it has none. */
function addressWord(addressText: string): string {
  const textWords = addressText.split(/[\s<>,;:"()[\]]/);
  return (
    textWords.find((candidate) => candidate.indexOf("@", 1) > 0 && !candidate.endsWith("@")) ?? ""
  );
}

function toSenderName(nameTokens: readonly string[], mailCharset: string): string {
  const nameWords = nameTokens.map((tokenText) =>
    /^".*"$/s.test(tokenText) ? tokenText.slice(1, -1).replace(/\\(.)/gs, "$1") : tokenText,
  );
  const senderName = decodeHeader(nameWords.join(""), mailCharset)
    .replace(/^[\s,;]+|(?<![\s,;:<])[\s,;:<]+$/g, "")
    .replace(/(?<!\s)\s{0,20}\[(?:mailto|smtp)?$/i, "");
  return /^mailto$/i.test(senderName) ? "" : senderName;
}

/** Returns a sender of a list's archive, `ada at example.com (Ada)`, as in a mail; others unchanged. */
function pipermailSender(senderText: string): string {
  const [, userName, domainName, fullName] =
    /^(\S{1,200}) at (\S{1,255}\.\S{1,100})(?: \((.*)\))?$/.exec(senderText) ?? [];
  if (userName === undefined) return senderText;
  return fullName === undefined
    ? `${userName}@${domainName}`
    : `${fullName} <${userName}@${domainName}>`;
}
