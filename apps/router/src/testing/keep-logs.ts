import type { MessageRecord, Observe } from "../records/message-record.ts";
import type { Keep } from "./planted-key.ts";

/** Where a router writes its records and its access log to. */
interface Logs {
  readonly observe?: Observe;
  readonly writeAccess?: (line: string) => void;
}

/** Keeps every record and every line of the access log, and gives it on to the test's own. */
export function keepLogs({ observe, writeAccess }: Logs, keep: Keep): Required<Logs> {
  return {
    observe: (record: MessageRecord) => {
      keep(record);
      observe?.(record);
    },
    writeAccess: (line) => {
      keep(line);
      writeAccess?.(line);
    },
  };
}
