/** Returns the address in a sender such as `Ada <ada@example.com>`, in lower case; null when there is none. */
export function senderAddress(from: string): string | null {
  return addressesIn(from).at(-1) ?? null;
}

/** Returns every address in a text, in lower case. */
export function addressesIn(text: string): string[] {
  // Cut into words first: a pattern for a whole address begins anew at each character of a word.
  return text
    .split(/[\s<>"'(),:;=[\]]/u)
    .filter((word) => word.indexOf("@", 1) > 0 && word.lastIndexOf("@", word.length - 2) > 0)
    .map((address) => address.toLowerCase().replace(/\.$/, ""));
}
