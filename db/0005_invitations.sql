-- When the password of an invitation link expires. Null once the user has chosen a password, and for users without an
-- invitation.
ALTER TABLE :"service".service_users ADD COLUMN invitation_expires_at timestamptz;
