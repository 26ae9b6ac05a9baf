import { networkInterfaces } from "node:os";

/** The addresses of this machine's network interfaces. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
}
