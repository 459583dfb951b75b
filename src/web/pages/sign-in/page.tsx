import logo from 'icon:account_tree';
import { Box, Paper, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Glyph } from '../../shared/glyph.js';
import { SignInForm } from './sign-in-form.js';
import classes from './page.module.css';

/** Shown at every address, so that the user continues there. */
export function SignInPage() {
  useDocumentTitle('Sign in · Data Platform');
  return (
    <Box component="main" className={classes.page}>
      <div className={classes.inside}>
        <div className={classes.brand}>
          <span className={classes.mark}>
            <Glyph path={logo} size={26} />
          </span>
          <Title order={1} size="h3">
            Data Platform
          </Title>
          <Text c="dimmed" size="sm">
            Manage your PostgreSQL schema and its history
          </Text>
        </div>
        <Paper className={classes.card} radius="lg" p="xl">
          <SignInForm />
        </Paper>
      </div>
    </Box>
  );
}
