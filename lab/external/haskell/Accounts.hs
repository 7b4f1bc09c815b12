{-# LANGUAGE OverloadedStrings #-}
-- | The operations of the experiment goget, and accounts as lines and as weights.
module Accounts (Operation (..), Values, operations, itemWeight, accountWeight) where

import Data.Text (Text)
import Protocol

-- | An item: name, comment, status, count.
type Values = (Text, Text, Int, Int)

data Operation
  = New !Int !Text !Text
  | Get !Int
  | Name !Text
  | List
  | Add !Int !Values
  | Change !Int !Int !Values
  | Update !Int !Text
  | Delete !Int

-- | An operation out of its line.
operations :: Fields -> Maybe Operation
operations line = case line of
  ["new", key, name, passphrase] -> Just (New (number key) name passphrase)
  ["get", key] -> Just (Get (number key))
  ["name", name] -> Just (Name name)
  ["list"] -> Just List
  "add" : key : values -> Add (number key) <$> item values
  "change" : key : place : values -> Change (number key) (number place) <$> item values
  ["update", key, passphrase] -> Just (Update (number key) passphrase)
  ["delete", key] -> Just (Delete (number key))
  _ -> Nothing
  where
    item [name, comment, status, count] =
      let (known, many) = (number status, number count) in known `seq` many `seq` Just (name, comment, known, many)
    item _ = Nothing

itemWeight :: Text -> Text -> Int -> Int -> Int
itemWeight name comment status count = size name + size comment + status + count

accountWeight :: Int -> Text -> Text -> Int
accountWeight key name passphrase = key + size name + size passphrase
