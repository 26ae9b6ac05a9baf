import { serveMain } from "../thread/serve-main.ts";
import { JournalStore, type StoreOptions } from "./journal-store.ts";

serveMain((options: StoreOptions) => new JournalStore(options));
