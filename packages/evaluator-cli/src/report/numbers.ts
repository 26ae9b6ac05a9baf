/** Returns a count with separated thousands. */
export function count(n: number): string {
  return n.toLocaleString("en");
}

/** Returns a number with its sign and four decimals, or others. */
export function signed(value: number, decimals = 4): string {
  const size = Math.abs(value).toFixed(decimals);
  if (Number(size) === 0) return size;
  return `${value < 0 ? "−" : "+"}${size}`;
}
