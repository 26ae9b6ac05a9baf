/** Whether an address is the vendor's: all under `/direct`, and its evaluation at the host root. */
export function isVendorPath(path: string): boolean {
  return path.startsWith("/direct/") || path === "/v1/systemone";
}
