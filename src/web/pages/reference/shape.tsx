/** The members of a body or an answer. */
import type { Member, Outline, OutlinedParameter } from '../../../http/openapi/outline.js';
import classes from './page.module.css';

/** Folded until it is wanted. Without members, its type stands there. */
export function Shape({ shape: { name, description, members, type } }: { shape: Outline['shapes'][number] }) {
  return (
    <details className={classes.shape} id={`shape-${name}`}>
      <summary>{name}</summary>
      {description !== '' && (
        <p>
          <Words>{description}</Words>
        </p>
      )}
      {members.length === 0 ? <p>{typeText(type)}</p> : <Members of={members} label={`Members of ${name}`} />}
    </details>
  );
}

/** What stands in backticks is code. */
export const Words = ({ children }: { children: string }) =>
  children
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 0 ? part : <code key={`${index} ${part}`}>{part}</code>));

/** Names of shapes stand in angle brackets in the outline. */
export const typeText = (type: string): string => type.replaceAll(/<(\w+)>/g, '$1');

/** @param props.label for those who hear the table */
export function Members({ of, label }: { of: readonly (Member | OutlinedParameter)[]; label: string }) {
  return (
    <div className={classes.scroller} role="region" aria-label={label} tabIndex={0}>
      <table className={classes.members}>
        <thead>
          <tr>
            {['Name', 'Where', 'Type', 'Meaning'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((member) => (
            <tr key={`${placeOf(member)} ${member.name}`}>
              <th scope="row">
                <code>{member.name}</code>
              </th>
              <td>{placeOf(member)}</td>
              <td>{typeText(member.type)}</td>
              <td>
                <Words>{member.description}</Words>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const placeOf = (member: Member | OutlinedParameter): string =>
  'in' in member ? member.in : member.required ? 'always' : 'optional';
