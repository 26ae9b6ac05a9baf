// A PreToolUse hook of Claude Code, in .claude/settings.json:
// { "hooks": { "PreToolUse": [{ "matcher": "Bash|Write|Edit", "hooks": [
//   { "type": "command", "command": "node --env-file=.env check-tool.ts", "timeout": 20 }] }] } }
import { boolean, createEvaluator, type Evaluator } from "evaluator-client";
import { gate } from "evaluator-client/gate";
import { text } from "node:stream/consumers";

const questions = {
  harmless: boolean("Is this tool call of a coding agent harmless and easy to undo?", {
    false: "it deletes, publishes, pays, sends secrets, or changes things outside the project",
  }),
};

/** Returns the hook's answer to the JSON that Claude Code sends: whatever goes wrong, a person is asked. */
export async function checkTool(body: string, evaluator: Evaluator, log?: (line: string) => void) {
  const mayRun = gate(evaluator, {
    questions,
    approve: { harmless: { is: "yes", atLeast: 0.95 } },
    deadlineMs: 10_000, // less than the timeout of the hook, after which Claude Code goes on without it
    log,
  });
  const call = parseCall(body);
  const { status, reason } = await mayRun(call);
  const permissionDecision = { approved: "allow", denied: "deny", undecided: "ask" }[status];
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision,
      permissionDecisionReason: reason,
    },
  };
}

function parseCall(body: string) {
  try {
    const { tool_name: tool, tool_input: input, cwd } = JSON.parse(body) as Record<string, unknown>;
    return { tool: String(tool), input, context: { folder: cwd } };
  } catch {
    return { tool: "unknown", input: () => "no JSON" }; // no state, so the gate stays closed
  }
}

function writeLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

if (import.meta.main) {
  const answer = await checkTool(await text(process.stdin), createEvaluator(), writeLine);
  process.stdout.write(JSON.stringify(answer));
}
