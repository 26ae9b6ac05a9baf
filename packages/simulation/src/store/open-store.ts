import type { StoreConnection } from "../store-faults.ts";
import type { World } from "../world.ts";
import { MemoryStore, type SharedStore } from "./shared-store.ts";

/** Opens the empty store of a plan, at the other end of a connection. */
export async function openStore(world: World, connection: StoreConnection): Promise<SharedStore> {
  const { store, workers } = world.plan;
  if (store === "memory" || workers === 0) return new MemoryStore(world, connection);
  // PGlite takes seconds to load.
  const { PgliteStore } = await import("./pglite-store.ts");
  return await PgliteStore.open(world, connection);
}
