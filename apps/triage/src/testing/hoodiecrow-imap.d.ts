declare module "hoodiecrow-imap" {
  import type { Server } from "node:net";

  /** A mail; the server gives it a UID if it has none. */
  export interface HoodiecrowMail {
    raw: string;
    flags?: string[];
    internaldate?: string;
    uid?: number;
    MODSEQ?: number;
  }
  export interface HoodiecrowFolder {
    messages?: HoodiecrowMail[];
    uidvalidity?: number;
    uidnext?: number;
    allowPermanentFlags?: boolean;
    "special-use"?: string;
    folders?: Record<string, HoodiecrowFolder>;
  }
  export interface HoodiecrowOptions {
    plugins?: string[];
    storage?: Record<string, HoodiecrowFolder>;
  }
  /** Gets the connection, the parsed command, its text, and a function to call at its end. */
  export type CommandHandler = (...call: readonly unknown[]) => void;
  export interface Hoodiecrow {
    readonly server: Server;
    listen(port: number, host: string, listening: () => void): void;
    close(closed?: () => void): void;
    getMailbox(path: string): Required<HoodiecrowFolder> | undefined;
    appendMessage(folder: string, flags: string[], received: string, raw: string): void;
    getCommandHandler(command: string): CommandHandler;
    setCommandHandler(command: string, handler: CommandHandler): void;
  }
  export default function hoodiecrow(options: HoodiecrowOptions): Hoodiecrow;
}

declare module "hoodiecrow-imap/lib/commands/handlers/fetch.js" {
  const fetchHandlers: {
    BODY: (connection: unknown, message: unknown, query: unknown) => unknown;
  };
  export default fetchHandlers;
}
