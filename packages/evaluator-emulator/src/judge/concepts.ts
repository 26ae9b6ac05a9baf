import { textWords } from "./words.ts";

/** A topic the judge knows. */
interface Concept {
  readonly name: string;
  /** Phrases by which an option or a question names the topic; a state may hold them too. */
  readonly cues: readonly string[];
  /** Further phrases by which a state shows the topic. */
  readonly signs: readonly string[];
}

function concept(name: string, cues: string, signs: string): Concept {
  return { name, cues: split(cues), signs: split(signs) };
}

function split(phrases: string): string[] {
  return phrases
    .split(",")
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== "");
}

/** The topics the judge knows, for chat messages first and everyday mail after. */
const concepts: readonly Concept[] = [
  concept(
    "greeting",
    "greeting, small talk, chit chat",
    `hi, hello, hey, howdy, good morning, good afternoon, good evening, good night, how are you,
    thanks, thank you, bye, goodbye, see you, nice to meet you, what's up, hallo, hola, bonjour, ok`,
  ),
  concept(
    "question",
    "simple question, question",
    "?, what, who, when, where, which, how many, how much, how old, how far, is it true",
  ),
  concept(
    "short task",
    "short task",
    `translate, define, spell, synonym, convert, rephrase, rewrite, proofread, fix the grammar,
    shorten, list three, list five, name three, summarize, one sentence, joke, haiku, poem, limerick,
    rhyme, weather, recipe, title for`,
  ),
  concept(
    "explanation",
    "reasoning, explanation, analysis, explain",
    `explain, compare, contrast, trade off, pros and cons, analyze, analyse, evaluate, step by step,
    why does, reason through, difference between, critique, advise`,
  ),
  concept(
    "plan",
    "planning, plan",
    `itinerary, roadmap, strategy, curriculum, organize, organise, budget for, weekly schedule,
    migration, workout, meal plan, study plan`,
  ),
  concept(
    "code",
    "code, coding, programming, software, a complete system",
    `function, script, python, javascript, typescript, java, rust, sql, regex, html, css, react,
    algorithm, compile, debug, refactor, unit test, class, api, parser, program, app, endpoint,
    recursion, quicksort, binary search, compiler, database, bug, loop, implement, source code`,
  ),
  concept(
    "completeness",
    "complete, large, multi step, high stakes, entire, comprehensive",
    `complete, perfect, full, whole, entire, production ready, production grade, from scratch,
    end to end, every edge case, fully tested, thorough, in full, flawless, exhaustive, 50 page`,
  ),
  concept(
    "system",
    "complete system, system, architecture",
    `build, platform, operating system, application, distributed, microservice, e commerce,
    compiler, game engine, backend, infrastructure, deployment, framework, authentication, database`,
  ),
  concept(
    "hard math",
    "hard math, math, mathematics",
    `prove, proof, theorem, lemma, conjecture, integral, differential equation, eigenvalue, topology,
    infinitely many, irrational, riemann, derive, combinatorics`,
  ),
  concept(
    "long document",
    "long document",
    `novel, thesis, dissertation, white paper, book, chapters, full report, business plan, contract,
    legal brief, screenplay, grant proposal`,
  ),
  concept(
    "security",
    "security, sign in, account security, breach",
    `login, log in, signed in, new device, password, verification code, two factor, 2fa, one time code,
    unauthorized, breach, compromised, unusual activity, suspicious activity, access to your account,
    granted access, third party app, consent, recovery email, passkey, security alert`,
  ),
  concept(
    "receipt",
    "receipt, invoice, billing, payment receipt",
    `$, €, £, paid, payment, order, total, charged, refund, subscription renewed, renewal, purchase,
    amount, transaction, tax, statement, vat, shipped, your order`,
  ),
  concept(
    "policy",
    "policy, terms change, product change",
    `terms of service, terms of use, privacy policy, terms, updating our, update to our, changes to our,
    we are changing, deprecate, deprecation, sunset, retiring, end of life, maintenance, effective,
    price change, new feature, release notes, discontinue, data processing`,
  ),
  concept(
    "promotion",
    "newsletter, digest, marketing, promotion, advertisement",
    `unsubscribe, weekly, this week in, issue, edition, sale, % off, discount, coupon, offer, save up,
    limited time, black friday, webinar, launch, free shipping, new arrivals, roundup, top stories,
    subscribe, read more, trending, exclusive, flash sale`,
  ),
  concept(
    "reminder",
    "reminder, to do, task sent",
    `remind, don't forget, note to self, remember to, todo, pick up, appointment, groceries, buy milk,
    call the, dentist, tomorrow at, bring the, reminder`,
  ),
  concept(
    "family",
    "family, family member, relative",
    `mom, mum, dad, mother, father, sister, brother, wife, husband, son, daughter, kids, grandma,
    grandpa, aunt, uncle, cousin, love you, dinner, school, birthday`,
  ),
  concept(
    "business",
    "business inquiry, work, contract, deal, business",
    `proposal, inquiry, enquiry, freelance, consulting, consultant, hire, hiring, project, quote, budget,
    partnership, partner, collaborate, collaboration, sponsor, sponsorship, rates, your rate, recruiter,
    opportunity, position, our company, our team, work with you, schedule a call, campaign, engagement,
    statement of work`,
  ),
  concept(
    "brand deal",
    "sponsorship, brand deal, sponsored",
    `sponsor, collaborate, collaboration, partnership, influencer, campaign, your channel, your audience,
    your video, ambassador, affiliate, integration, media kit, creator, brand, paid placement`,
  ),
  concept(
    "scam",
    "scam, phishing, fraud, untrustworthy, spam",
    `lottery, prize, you have won, million, customs fee, valued customer, dear valued, congratulations,
    selected for, mailbox, storage limit, will be closed, unusual activity, inheritance, gift card, wire transfer, western union,
    verify your account, verify your identity, account suspended, will be suspended, click here,
    click the link, bitcoin, crypto, kindly, beneficiary, password expires, confirm your, prince,
    act now, unpaid customs, seed phrase, guaranteed, processing fee, dear customer, claim your`,
  ),
  concept(
    "routine",
    "informational, skim, low priority",
    `newsletter, digest, weekly, receipt, invoice, paid, for your records, no action, unsubscribe, fyi,
    thank you for your order, has shipped, release notes, changelog, terms, policy, maintenance`,
  ),
  concept(
    "unwanted",
    "ignore, irrelevant, junk",
    "unsubscribe, % off, sale, promotion, coupon, lottery, exclusive, flash sale",
  ),
  concept(
    "reply wanted",
    "reply, action, follow up",
    `please reply, please respond, let me know, rsvp, get back to, please confirm, please review,
    please sign, looking forward, could you, can you, are you available, interested, don't forget,
    remind, schedule a call, proposal, feedback, invite`,
  ),
  concept(
    "deadline",
    "deadline, today, urgent, critical, overdue",
    `tonight, due, expires, expire, asap, final notice, last day, by friday, by monday, by tomorrow,
    within 24 hours, immediately, as soon as possible, payment failed, past due, unauthorized, breach,
    compromised, security alert, sign in, suspended`,
  ),
  concept(
    "emergency",
    "emergency, within 30 minutes, response within, disaster",
    `outage, is down, hospital, accident, right now, 911, fire, call me now, ambulance, incident,
    production down, evacuate, in 10 minutes, in 20 minutes`,
  ),
  concept(
    "positive",
    "positive, happy, satisfied, praise, good",
    `great, love, excellent, amazing, wonderful, fantastic, perfect, enjoyed, recommend, delightful,
    best, pleased, awesome`,
  ),
  concept(
    "negative",
    "negative, unhappy, angry, dissatisfied, complaint",
    `terrible, hate, worst, disappointed, broken, useless, rude, frustrated, annoyed, horrible,
    waste of, never again, unacceptable, poor`,
  ),
  concept(
    "technical problem",
    "bug, technical, error, crash, technical support",
    `crashes, error message, doesn't work, not working, fails, failing, exception, stack trace, freezes,
    404, 500, timeout, cannot open, stopped working, reproduce`,
  ),
  concept(
    "delivery",
    "shipping, delivery",
    "package, parcel, tracking number, courier, shipped, arrived, delayed, lost in transit, delivered",
  ),
  concept(
    "refund",
    "refund, billing problem, money back",
    "charged twice, double charged, overcharged, refund, chargeback, cancel my, money back, wrong amount",
  ),
];

/** Longest phrase of the concept list, in words. */
const longestPhrase = 3;

const phrasesByRole = {
  cues: indexPhrases((concept) => concept.cues),
  signs: indexPhrases((concept) => [...concept.cues, ...concept.signs]),
};

/** The words that phrases of several words start with. */
const phraseStarts = new Set(
  [...phrasesByRole.signs.keys()]
    .map((phrase) => phrase.split(" "))
    .filter((words) => words.length > 1)
    .map(([first]) => first),
);

/**
 * Returns the concepts a text holds, each with the number of different phrases that show it.
 *
 * @param role - `cues` for an option or a question, which name a concept; `signs` for a state.
 */
export function findConcepts(
  words: readonly string[],
  role: keyof typeof phrasesByRole,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const phrases = phrasesByRole[role];
  for (const phrase of new Set(phrasesOf(words))) {
    const names = phrases.get(phrase);
    if (names === undefined) continue;
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function phrasesOf(words: readonly string[]): string[] {
  const phrases = [...words];
  for (let start = 0; start < words.length; start += 1) {
    let phrase = words[start] ?? "";
    if (!phraseStarts.has(phrase)) continue;
    for (const next of words.slice(start + 1, start + longestPhrase)) {
      phrase += ` ${next}`;
      phrases.push(phrase);
    }
  }
  return phrases;
}

function indexPhrases(phrasesOfConcept: (concept: (typeof concepts)[number]) => readonly string[]) {
  const index = new Map<string, Set<string>>();
  for (const concept of concepts) {
    for (const phrase of phrasesOfConcept(concept)) {
      const key = textWords(phrase).join(" ");
      index.set(key, (index.get(key) ?? new Set()).add(concept.name));
    }
  }
  return index;
}
