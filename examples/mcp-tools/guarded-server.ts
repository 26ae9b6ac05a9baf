// An MCP server over standard input and output: node --env-file=.env guarded-server.ts FOLDER
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { boolean, createEvaluator, type Evaluator } from "evaluator-client";
import { gate } from "evaluator-client/gate";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const questions = {
  harmless: boolean("Is it harmless to remove this file of a project?", {
    true: "it can be built or downloaded again",
    false: "it is work of a person, or the project or the system needs it",
  }),
};

interface ServerOptions {
  readonly evaluator: Evaluator;
  /** Removes a file of the folder by its name. */
  readonly remove: (name: string) => Promise<void>;
  readonly log?: (line: string) => void;
}

/** Returns a server whose tool runs only if the gate approves its call, or the person at the client if it is undecided. */
export function createServer({ evaluator, remove, log }: ServerOptions) {
  const server = new McpServer({ name: "files", version: "1.0.0" });
  const mayRun = gate(evaluator, {
    questions,
    approve: { harmless: { is: "yes", atLeast: 0.95 } },
    log,
  });
  const about = { description: "Removes a file of the folder.", inputSchema: { name: fileName } };
  server.registerTool("remove_file", about, async ({ name }, { signal }) => {
    const verdict = await mayRun({ tool: "remove_file", input: { name } }, { signal });
    const isUndecided = verdict.status === "undecided";
    const isApproved = verdict.approved || (isUndecided && (await isConfirmed(server, name)));
    if (!isApproved || signal.aborted) {
      return { isError: true, content: [{ type: "text", text: `Not run: ${verdict.reason}` }] };
    }
    await remove(name);
    return { content: [{ type: "text", text: `Removed ${name}.` }] };
  });
  return server;
}

/** A gate is no permission: the tool itself stays in the folder. */
const fileName = z.string().regex(/^\w[\w.-]*$/);

/** Asks the person at the client; if the client has no form, the answer is no. */
async function isConfirmed({ server }: McpServer, name: string): Promise<boolean> {
  if (server.getClientCapabilities()?.elicitation === undefined) return false;
  const { action, content } = await server.elicitInput({
    message: `Remove ${name}?`,
    requestedSchema: {
      type: "object",
      properties: { remove: { type: "boolean", title: "Remove it" } },
      required: ["remove"],
    },
  });
  return action === "accept" && content?.["remove"] === true;
}

if (import.meta.main) {
  const [folder = "."] = process.argv.slice(2);
  const server = createServer({
    evaluator: createEvaluator(),
    remove: (name) => rm(join(folder, name)),
    log: (line) => void process.stderr.write(`${line}\n`),
  });
  await server.connect(new StdioServerTransport());
}
