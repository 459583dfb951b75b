import { readRelease } from '../../release.js';
import { json } from '../output.js';
import { githubAnnotations } from './github.js';
import type { Shown, Source } from './model.js';
import { sarifLog } from './sarif.js';
import { findingsMarkdown, findingsText } from './text.js';

export const FINDING_FORMATS = ['text', 'json', 'markdown', 'github', 'sarif'] as const;
export type FindingFormat = (typeof FINDING_FORMATS)[number];

/** @param source the document of the findings, for formats with line numbers */
export function printFindings(findings: readonly Shown[], format: FindingFormat, source: Source): string {
  switch (format) {
    case 'text':
      return findingsText(findings);
    case 'json':
      return json({ findings });
    case 'markdown':
      return findingsMarkdown(findings);
    case 'github':
      return githubAnnotations(findings, source);
    case 'sarif':
      return json(sarifLog(findings, source, readRelease()));
  }
}

export type { Locate, Shown, Source } from './model.js';
