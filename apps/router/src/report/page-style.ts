/** The look of the decisions' page and the evaluation's, beside that of every report. */
export const pageStyle = `
main { display: grid; gap: 1.25rem; margin-top: 1.25rem; }
main > * { min-width: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin-bottom: 0.5rem; }
.notice { margin-top: 0.35rem; color: var(--quiet); }
`;
