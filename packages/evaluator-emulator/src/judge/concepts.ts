import { textWords } from "./words.ts";

/**
 * The concepts that the judge knows. First the phrases by which an option or a question names the
 * concept (a state may contain them too), then the phrases by which only a state shows it.
 */
const conceptTable = `
greeting, small talk, chit chat:
  hi, hello, hey, howdy, good morning, good afternoon, good evening, good night, how are you,
  thanks, thank you, bye, goodbye, see you, nice to meet you, what's up, hallo, hola, bonjour,
  ok
simple question, question:
  ?, what, who, when, where, which, how many, how much, how old, how far, is it true
short task:
  translate, define, spell, synonym, convert, rephrase, rewrite, proofread, fix the grammar,
  shorten, list three, list five, name three, summarize, one sentence, joke, haiku, poem,
  limerick, rhyme, weather, recipe, title for
reasoning, explanation, analysis, explain:
  explain, compare, contrast, trade off, pros and cons, analyze, analyse, evaluate, step by
  step, why does, reason through, difference between, critique, advise
planning, plan:
  itinerary, roadmap, strategy, curriculum, organize, organise, budget for, weekly schedule,
  migration, workout, meal plan, study plan
code, coding, programming, software, a complete system:
  function, script, python, javascript, typescript, java, rust, sql, regex, html, css, react,
  algorithm, compile, debug, refactor, unit test, class, api, parser, program, app, endpoint,
  recursion, quicksort, binary search, compiler, database, bug, loop, implement, source code
complete, large, multi step, high stakes, entire, comprehensive:
  complete, perfect, full, whole, entire, production ready, production grade, from scratch, end
  to end, every edge case, fully tested, thorough, in full, flawless, exhaustive, 50 page
complete system, system, architecture:
  build, platform, operating system, application, distributed, microservice, e commerce,
  compiler, game engine, backend, infrastructure, deployment, framework, authentication,
  database
hard math, math, mathematics:
  prove, proof, theorem, lemma, conjecture, integral, differential equation, eigenvalue,
  topology, infinitely many, irrational, riemann, derive, combinatorics
long document:
  novel, thesis, dissertation, white paper, book, chapters, full report, business plan,
  contract, legal brief, screenplay, grant proposal
security, sign in, account security, breach:
  login, log in, signed in, new device, password, verification code, two factor, 2fa, one time
  code, unauthorized, breach, compromised, unusual activity, suspicious activity, access to your
  account, granted access, third party app, consent, recovery email, passkey, security alert
receipt, invoice, billing, payment receipt:
  $, €, £, paid, payment, order, total, charged, refund, subscription renewed, renewal,
  purchase, amount, transaction, tax, statement, vat, shipped, your order
policy, terms change, product change:
  terms of service, terms of use, privacy policy, terms, updating our, update to our, changes to
  our, we are changing, deprecate, deprecation, sunset, retiring, end of life, maintenance,
  effective, price change, new feature, release notes, discontinue, data processing
newsletter, digest, marketing, promotion, advertisement:
  unsubscribe, weekly, this week in, issue, edition, sale, % off, discount, coupon, offer, save
  up, limited time, black friday, webinar, launch, free shipping, new arrivals, roundup, top
  stories, subscribe, read more, trending, exclusive, flash sale
reminder, to do, task sent:
  remind, don't forget, note to self, remember to, todo, pick up, appointment, groceries, buy
  milk, call the, dentist, tomorrow at, bring the, reminder
family, family member, relative:
  mom, mum, dad, mother, father, sister, brother, wife, husband, son, daughter, kids, grandma,
  grandpa, aunt, uncle, cousin, love you, dinner, school, birthday
business inquiry, work, contract, deal, business:
  proposal, inquiry, enquiry, freelance, consulting, consultant, hire, hiring, project, quote,
  budget, partnership, partner, collaborate, collaboration, sponsor, sponsorship, rates, your
  rate, recruiter, opportunity, position, our company, our team, work with you, schedule a call,
  campaign, engagement, statement of work
sponsorship, brand deal, sponsored:
  sponsor, collaborate, collaboration, partnership, influencer, campaign, your channel, your
  audience, your video, ambassador, affiliate, integration, media kit, creator, brand, paid
  placement
scam, phishing, fraud, untrustworthy, spam:
  lottery, prize, you have won, million, customs fee, valued customer, dear valued,
  congratulations, selected for, mailbox, storage limit, will be closed, unusual activity,
  inheritance, gift card, wire transfer, western union, verify your account, verify your
  identity, account suspended, will be suspended, click here, click the link, bitcoin, crypto,
  kindly, beneficiary, password expires, confirm your, prince, act now, unpaid customs, seed
  phrase, guaranteed, processing fee, dear customer, claim your
informational, skim, low priority:
  newsletter, digest, weekly, receipt, invoice, paid, for your records, no action, unsubscribe,
  fyi, thank you for your order, has shipped, release notes, changelog, terms, policy,
  maintenance
ignore, irrelevant, junk:
  unsubscribe, % off, sale, promotion, coupon, lottery, exclusive, flash sale
reply, action, follow up:
  please reply, please respond, let me know, rsvp, get back to, please confirm, please review,
  please sign, looking forward, could you, can you, are you available, interested, don't forget,
  remind, schedule a call, proposal, feedback, invite
deadline, today, urgent, critical, overdue:
  tonight, due, expires, expire, asap, final notice, last day, by friday, by monday, by
  tomorrow, within 24 hours, immediately, as soon as possible, payment failed, past due,
  unauthorized, breach, compromised, security alert, sign in, suspended
emergency, within 30 minutes, response within, disaster:
  outage, is down, hospital, accident, right now, 911, fire, call me now, ambulance, incident,
  production down, evacuate, in 10 minutes, in 20 minutes
positive, happy, satisfied, praise, good:
  great, love, excellent, amazing, wonderful, fantastic, perfect, enjoyed, recommend,
  delightful, best, pleased, awesome
negative, unhappy, angry, dissatisfied, complaint:
  terrible, hate, worst, disappointed, broken, useless, rude, frustrated, annoyed, horrible,
  waste of, never again, unacceptable, poor
bug, technical, error, crash, technical support:
  crashes, error message, doesn't work, not working, fails, failing, exception, stack trace,
  freezes, 404, 500, timeout, cannot open, stopped working, reproduce
shipping, delivery:
  package, parcel, tracking number, courier, shipped, arrived, delayed, lost in transit,
  delivered
refund, billing problem, money back:
  charged twice, double charged, overcharged, refund, chargeback, cancel my, money back, wrong
  amount
`;

const concepts = [...conceptTable.matchAll(/^(\S.*):\n((?: {2}.*\n)+)/gm)].map(
  ([, name = "", signs = ""]) => ({ name, cues: name, signs: `${name}, ${signs}` }),
);

/** Longest phrase of the table, in words. */
const longestPhrase = 3;

const phrasesByRole = { cues: indexPhrases("cues"), signs: indexPhrases("signs") };

/**
 * Returns the concepts of a text and how clearly it shows each; every further phrase adds less.
 *
 * @param role - `cues` for an option or a question, which name a concept; `signs` for a state.
 */
export function findConcepts(
  words: readonly string[],
  role: "cues" | "signs",
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const phrase of new Set(phrasesOf(words))) {
    for (const name of phrasesByRole[role].get(phrase) ?? []) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return new Map([...counts].map(([name, count]) => [name, Math.log2(1 + count)]));
}

function phrasesOf(words: readonly string[]): string[] {
  const lengths = Array.from({ length: longestPhrase }, (_, index) => index + 1);
  return words.flatMap((_, start) =>
    lengths.map((length) => words.slice(start, start + length).join(" ")),
  );
}

function indexPhrases(role: "cues" | "signs"): ReadonlyMap<string, ReadonlySet<string>> {
  const index = new Map<string, Set<string>>();
  for (const concept of concepts) {
    for (const phrase of concept[role].split(",")) {
      const key = textWords(phrase).join(" ");
      index.set(key, (index.get(key) ?? new Set()).add(concept.name));
    }
  }
  return index;
}
