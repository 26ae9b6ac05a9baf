/** Gives the address in a sender such as `Ada <ada@example.com>`, in lower case; null when there is none. */
export function senderAddress(from: string): string | null {
  return addressesIn(from).at(-1) ?? null;
}

/** Gives every address in a text, in lower case. */
export function addressesIn(text: string): string[] {
  return (text.match(/[^\s<>"'(),:;=[\]]+@[^\s<>"'(),:;=[\]]+/gu) ?? []).map((address) =>
    address.toLowerCase().replace(/\.$/, ""),
  );
}
